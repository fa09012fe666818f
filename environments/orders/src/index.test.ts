import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EvaluateOptions, evaluate } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import orders, { floorPolicies } from './index.ts'
import { euros } from './money.ts'
import { kinds } from './setting.ts'
import { idAt, scenarioOfTask, secretAt, tasks } from './tasks.ts'

testEnvironment(orders, { tasks: 20 })

const generated = 500
let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-orders-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function played(policy: string, name = policy) {
  const dir = join(root, name)
  const options: EvaluateOptions = { policy: `script:${policy}`, options: { generated }, dir }
  return { dir, run: await evaluate(orders, options) }
}

describe('twenty tasks made by hand and 500 generated ones', () => {
  test('hold every kind', () => {
    const { size } = tasks({ generated, seed: 0 })
    const found = Array.from({ length: size }, (_, i) => scenarioOfTask(secretAt(i, 0)).setting.kind)
    expect(new Set(found.slice(0, 20))).toEqual(new Set(kinds))
    expect(new Set(found.slice(20))).toEqual(new Set(kinds))
  })

  test('the oracle solves all of them by the rules', async () => {
    const { run } = await played('oracle')
    expect(run.summary.status.scored).toBe(20 + generated)
    expect(run.success.observed).toBe(1)
    expect(run.reward.observed).toBeCloseTo(1.2, 12)
  })

  test.each(floorPolicies)('%s solves none', async (policy) => {
    const { run } = await played(policy)
    expect(run.summary.status.scored).toBe(20 + generated)
    expect(run.success.observed).toBe(0)
    // Who verifies customers, and asks before changes, is paid for that, and for nothing else.
    const kept = policy === 'escalate' || policy === 'blind'
    expect(run.reward.observed).toBeLessThan(kept ? 0.15 : 0.01)
  })

  test('the clerk, who has read half of the rules, solves about half', async () => {
    const { run } = await played('clerk')
    expect(run.success.observed).toBeGreaterThan(0.35)
    expect(run.success.observed).toBeLessThan(0.65)
  })

  test('nothing that is published shows an answer before the agent has found it', async () => {
    const { dir } = await played('noop', 'silence')
    const published = await Promise.all(
      ['trajectories.jsonl', 'verdicts.jsonl', 'attempts.jsonl', 'orders.jsonl'].map((file) =>
        readFile(join(dir, file), 'utf8'),
      ),
    )
    const linesOf = new Map<string, string[]>()
    for (const line of published.flatMap((text) => text.split('\n'))) {
      for (const id of new Set(line.match(/(?<=")(?:desk-\d\d|train-0-\d{5})(?=["#])/g)))
        linesOf.set(id, [...(linesOf.get(id) ?? []), line])
    }
    for (let i = 0; i < 20 + generated; i++) {
      const id = idAt(i, 0)
      const mine = linesOf.get(id)?.join('\n') ?? ''
      expect(mine).not.toBe('')
      for (const { kind, value } of scenarioOfTask(secretAt(i, 0)).caller.asks) {
        // A number of things is any number.
        if (value === undefined || kind === 'rule' || kind === 'count') continue
        const shown = kind === 'money' ? euros(Number(value)) : value
        expect(mine, `${id} shows ${shown}`).not.toContain(shown)
      }
    }
  })
})
