import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeSampleRun } from './sample-run.ts'
import { formatTasks, taskOutcomes } from './task-table.ts'

test('a line for each task, the worst first; what is not scored is no failure', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quintain-tasks-'))
  try {
    const dir = join(root, 'run')
    const order = (task: string, reward: number | null) => ({
      task,
      attempts: [reward === null ? { unscored: 'no_answer' } : { reward, success: reward === 1 }],
    })
    await writeSampleRun(dir, {
      orders: [order('good', 1), order('good', 1), order('bad', 0), order('bad', null), order('lost', null)],
    })
    const outcomes = await taskOutcomes(dir)
    expect(outcomes.map(({ task, scored, orders, succeeded }) => [task, scored, orders, succeeded])).toEqual([
      ['good', 2, 2, 2],
      ['bad', 1, 2, 0],
      ['lost', 0, 1, 0],
    ])
    const text = formatTasks(outcomes).split('\n')
    expect(text.slice(1, 4).map((line) => line.split(/\s+/)[0])).toEqual(['lost', 'bad', 'good'])
    expect(text[3]).toContain('2 of 2')
    expect(text[3]).toContain('1.000')
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
