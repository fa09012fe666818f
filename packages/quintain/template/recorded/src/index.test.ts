import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { evaluate, parseJsonl } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { expect, test } from 'vitest'
import { decisions } from './decisions.ts'
import env from './index.ts'

const file = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

// Silence solves no task, and two worlds of a task are the same. `secrets` looks for texts of the secret in what an agent
// sees first; it is off since recorded answers repeat words of honest texts. Turn it on when the secret is small.
testEnvironment(env, { secrets: false })

test('what was recorded plays again: no fault, and every call finds its recorded result', async () => {
  const run = await evaluate(env, { policy: `recorded:${file('recordings.jsonl')}` })
  expect(run.summary.faults).toEqual([])
  expect(run.summary.metrics['not_recorded']?.mean).toBe(0)
})

test('every decision is of a task that there is', () => {
  const tasks = parseJsonl(readFileSync(file('tasks.jsonl'))).records.map(
    ({ value }) => (value as { id: string }).id,
  )
  expect(Object.keys(decisions).filter((id) => !tasks.includes(id))).toEqual([])
})

test.skipIf(Object.values(decisions).some((decision) => decision === null))(
  'what is decided agrees with the recorded rewards on nine of ten recordings',
  async () => {
    const run = await evaluate(env, { policy: `recorded:${file('recordings.jsonl')}` })
    const { mean = null, n = 0 } = run.summary.metrics['agrees_with_recorded'] ?? {}
    // Without a recorded reward there is nothing to agree with.
    if (n > 0) expect(mean).toBeGreaterThanOrEqual(0.9)
  },
)
