import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { evaluate, parseJsonl, type RunResult } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { beforeAll, expect, test } from 'vitest'
import { decisions } from './decisions.ts'
import env from './index.ts'
import { recordingsOf } from './recordings.ts'

const file = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const tasks = parseJsonl(readFileSync(file('tasks.jsonl'))).records.map(
  ({ value }) => (value as { id: string }).id,
)
const recordedTasks = tasks.filter((id) => recordingsOf(id).length > 0)

// Silence solves no task, and two worlds of a task are the same. `secrets` looks for texts of the secret in what an agent
// sees first; it is off since recorded answers repeat words of honest texts. Turn it on when the secret is small.
testEnvironment(env, { secrets: false })

/** Every recording, played again: a run for the tasks with one, a run for those with two, and so on. */
const replays: RunResult[] = []
beforeAll(async () => {
  const policy = `recorded:${file('recordings.jsonl')}`
  for (const [repeats, alike] of Map.groupBy(recordedTasks, (id) => recordingsOf(id).length))
    replays.push(await evaluate(env, { policy, tasks: alike, repeats }))
}, 600_000)

/** How many recordings have a metric, and its mean over them. */
function metric(name: string): { n: number; mean: number } {
  const found = replays.flatMap(({ summary }) => summary.metrics[name] ?? [])
  const n = found.reduce((sum, one) => sum + one.n, 0)
  return { n, mean: found.reduce((sum, one) => sum + one.n * (one.mean ?? 0), 0) / n }
}

test('every recording plays again: no fault, and every call finds its recorded result', () => {
  const all = recordedTasks.reduce((sum, id) => sum + recordingsOf(id).length, 0)
  expect(replays.flatMap(({ summary }) => summary.faults)).toEqual([])
  expect(metric('not_recorded')).toEqual({ n: all, mean: 0 })
})

test('every decision is of a task that there is', () => {
  expect(Object.keys(decisions).filter((id) => !tasks.includes(id))).toEqual([])
})

test('what is decided agrees with the recorded rewards on nine of ten recordings', ({ skip }) => {
  const open = Object.values(decisions).filter((decision) => decision === null).length
  skip(open > 0, `${open} tasks are not decided yet (src/decisions.ts)`)
  const { n, mean } = metric('agrees_with_recorded')
  skip(n === 0, 'no recording has both a reward and a verdict, so there is nothing to agree with')
  expect(mean, `share of ${n} recordings`).toBeGreaterThanOrEqual(0.9)
})
