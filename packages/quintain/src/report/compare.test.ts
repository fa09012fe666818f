import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareRuns, formatComparison } from './compare.ts'
import { type SampleRun, writeSampleRun } from './sample-run.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-compare-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const tasks = Array.from({ length: 12 }, (_, i) => `t${i}`)
async function run(name: string, solved: number, extra: Partial<SampleRun> = {}) {
  const dir = join(root, name)
  await writeSampleRun(dir, {
    policy: `script:${name}`,
    orders: tasks.map((task, i) => ({ task, attempts: [{ reward: Number(i < solved) }] })),
    ...extra,
  })
  return dir
}

test('pairs by task and tells the change from the first to the second', async () => {
  const comparison = await compareRuns(await run('weak', 3), await run('strong', 10))
  expect(comparison.success).toMatchObject({ pairs: 12, higher: 7, equal: 5, lower: 0 })
  expect(comparison.success?.difference).toBeCloseTo(7 / 12)
  expect(comparison.success?.p).toBeCloseTo(2 / 2 ** 7)
  const text = formatComparison(comparison)
  expect(text).toMatch(
    /success \+0\.583 \[0\.\d+, 0\.\d+\] \(95 %, t, paired by task, new tasks; n = 12 tasks: 7 better, 5 equal, 0 worse; p = 0\.016, exact sign flips\)/,
  )
  expect(text).toContain('script:weak')
})

test('another digest, option or rubric is another measurement', async () => {
  const a = await run('a', 3)
  const b = await run('b', 3, { environment: { digest: 'f'.repeat(64), options: { hard: true } } })
  await expect(compareRuns(a, b)).rejects.toMatchObject({
    code: 'run_mismatch',
    message: expect.stringMatching(/digest: "0{12}" and "f{12}"; .*--force/),
  })
  const forced = await compareRuns(a, b, { force: true })
  expect(forced.differences).toHaveLength(2)
  expect(formatComparison(forced)).toContain('NOT COMPARABLE  options: {} and {"hard":true}')
})

test('tasks without a score on a side are left out and told', async () => {
  const a = await run('whole', 6)
  const b = await run('holed', 6, {
    orders: tasks.map((task, i) => ({
      task,
      attempts: i === 0 ? [{ fault: {} }] : [{ reward: Number(i < 6) }],
    })),
  })
  const comparison = await compareRuns(a, b)
  expect(comparison.reward).toMatchObject({ pairs: 11, dropped: ['t0'], difference: 0, p: 1 })
  expect(comparison.incompleteTasks).toBe(1)
  expect(formatComparison(comparison)).toContain(
    '  Not the whole: 1 task left out, without a score in one of the runs.\n',
  )
})
