import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { wilsonInterval } from '../../../packages/quintain/src/stats/index.ts'
import { gateScenarios } from './gate-scenarios.ts'
import { intervalScenarios } from './interval-scenarios.ts'
import { drawTasks, easy } from './population.ts'
import { holds, rateOf, type Scenario } from './scenario.ts'
import { testScenarios } from './test-scenarios.ts'

// The short version of `node conformance/stats/coverage.ts`: few trials, so only what is clearly off is caught.
const trials = 120

test('the table in the manual has every scenario, and what is allowed', () => {
  const page = readFileSync(new URL('../../../docs/statistics.md', import.meta.url), 'utf8')
  for (const { name, tasks, repeats, bounds } of [...intervalScenarios, ...testScenarios, ...gateScenarios]) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${name} | `)) ?? ''
    expect(row, name).toContain(`${tasks}x${repeats} `)
    expect(row, name).toContain(`| ${bounds[0]} to ${bounds[1]} |`)
  }
})

describe('what intervals, tests and sample sizes promise on made-up evaluations', () => {
  test.each([...intervalScenarios, ...testScenarios, ...gateScenarios])(
    '$name, $tasks x $repeats: $counted',
    (scenario) => {
      const { rate, error } = rateOf(scenario, trials)
      const [low, high] = scenario.bounds
      expect(rate).toBeGreaterThanOrEqual(low - 4 * error)
      expect(rate).toBeLessThanOrEqual(high + 4 * error)
    },
  )

  test('intervals that ignore that repeats belong together would be caught', () => {
    const naive: Scenario = {
      ...intervalScenarios[0]!,
      trial: (random) => {
        const scores = drawTasks(easy, { tasks: 30, repeats: 8 }, random).flat()
        return holds(
          wilsonInterval(
            scores.reduce((sum, score) => sum + score, 0),
            scores.length,
          ),
          easy.mean,
        )
      },
    }
    const { rate, error } = rateOf(naive, trials)
    expect(rate).toBeLessThan(0.93 - 4 * error)
  })
})
