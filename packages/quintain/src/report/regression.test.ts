import { describe, expect, test } from 'vitest'
import { createRng } from '../core/index.ts'
import { regressionOf } from './regression.ts'

/** Differences of `tasks` tasks that were tried once each: some are lost, some are gained. */
function differences(seed: number, tasks: number, lost: number, gained: number): number[] {
  const rng = createRng(`regression/${seed}`)
  return Array.from({ length: tasks }, () => {
    const draw = rng.next()
    return draw < lost ? -1 : draw < lost + gained ? 1 : 0
  })
}

const rounds = 300
function share(tasks: number, lost: number, gained: number, options = {}): number {
  let found = 0
  for (let seed = 0; seed < rounds; seed++) {
    if (regressionOf([differences(seed, tasks, lost, gained)], options)[0]!.regressed === true) found++
  }
  return found / rounds
}

describe('the gate', () => {
  test('cries wolf no more often than it says where nothing changed', () => {
    // Three standard errors of 300 rounds at 5 % are 3.8 points.
    expect(share(60, 0.1, 0.1)).toBeLessThan(0.05 + 0.038)
    expect(share(200, 0.15, 0.15, { alpha: 0.01 })).toBeLessThan(0.01 + 0.017)
  })

  test('lets a loss pass that is within the margin, as often as it says', () => {
    expect(share(200, 0.12, 0.1, { margin: 0.02 })).toBeLessThan(0.05 + 0.038)
  })

  test('finds a loss of the size that it says it catches, in four of five cases', () => {
    const [found] = regressionOf([differences(1, 200, 0.1, 0.1)], {})
    const loss = found!.catches!
    expect(loss).toBeGreaterThan(0.03)
    expect(loss).toBeLessThan(0.15)
    const rate = share(200, 0.1 + loss / 2, 0.1 - loss / 2)
    expect(rate).toBeGreaterThan(0.7)
    expect(rate).toBeLessThan(0.95)
  })
})

test('a loss that every task shows is one, and fewer than two tasks tell nothing', () => {
  expect(regressionOf([Array.from({ length: 8 }, () => -1)], {})[0]).toMatchObject({
    regressed: true,
    p: 2 ** -8,
    catches: null,
  })
  expect(regressionOf([Array.from({ length: 30 }, () => 0)], {})[0]).toMatchObject({ regressed: false })
  expect(regressionOf([[-1]], {})[0]).toMatchObject({ regressed: null, p: null })
  expect(regressionOf([[]], {})[0]).toMatchObject({ regressed: null, p: null })
})

test('several candidates share the error rate', () => {
  const worse = [...Array.from({ length: 6 }, () => -1), ...Array.from({ length: 30 }, () => 0)]
  const same = Array.from({ length: 36 }, () => 0)
  const alone = regressionOf([worse], { alpha: 0.02 })[0]!
  expect(alone).toMatchObject({ regressed: true, p: 2 ** -6 })
  expect(regressionOf([worse, same], { alpha: 0.02 })[0]).toMatchObject({ regressed: false, p: 2 ** -5 })
})
