import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { evaluate } from 'quintain'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { candidates } from './__fixtures__/drivers.ts'
import { type Played, played, variants } from './__fixtures__/played.ts'
import { taskFolders } from './task-folder.ts'

// Hundreds of boxes in a row, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 300_000 })

const everyTask = taskFolders()
const all = await candidates()
afterAll(() => Promise.all(all.map(({ driver }) => driver.close?.())))
const memoryTasks = everyTask.filter(({ inMemory }) => inMemory).map(({ id }) => id)

/** The outcome of every attempt as a line for people. */
const lines = (attempts: readonly Played[]) =>
  attempts.map(({ task, success, fault }) => `${task}: ${fault ?? (success ? 'solved' : 'not solved')}`)
const expected = (ids: readonly string[], how: string) => ids.map((id) => `${id}: ${how}`)

describe('ten tasks', () => {
  test('of different kinds, each with hidden tests, wrong solutions and another right one', () => {
    expect(everyTask).toHaveLength(10)
    expect(new Set(everyTask.map(({ kind }) => kind)).size).toBe(8)
    expect(memoryTasks).toHaveLength(4)
    for (const { id, checks } of everyTask) {
      expect(checks.length, id).toBeGreaterThan(1)
      expect(variants('wrong', id).length, id).toBeGreaterThan(1)
      expect(variants('right', id).length, id).toBeGreaterThan(0)
    }
  })
})

describe.concurrent.each(all)('in $name', ({ driver, missing, options, tasks, lacking }) => {
  for (const why of lacking) test.skip(why)

  describe.skipIf(missing !== undefined)(missing ?? 'a box', () => {
    test('the oracle solves every task, and nothing solves none', async () => {
      const [oracle, noop] = await Promise.all([
        played('oracle', driver, { options, tasks }),
        played('noop', driver, { options, tasks }),
      ])
      expect(lines(oracle)).toEqual(expected(tasks, 'solved'))
      expect(lines(noop)).toEqual(expected(tasks, 'not solved'))
    })
  })
})

const [{ driver, missing, tasks: here }] = all as [(typeof all)[number]]
describe.skipIf(missing !== undefined).concurrent('what is left in a box', () => {
  const having = (kind: 'wrong' | 'right', at: number) => here.filter((id) => variants(kind, id).length >= at)

  test.each([1, 2, 3])('earns nothing when it is wrong (solution %i of each task)', async (at) => {
    const tasks = having('wrong', at)
    expect(tasks).not.toEqual([])
    expect(lines(await played(`wrong-${at}`, driver, { tasks }))).toEqual(expected(tasks, 'not solved'))
  })

  test('is judged in workers as it is here', async () => {
    const packageDir = fileURLToPath(new URL('..', import.meta.url))
    const run = await evaluate(packageDir, {
      policy: 'script:oracle',
      sandbox: driver,
      tasks: ['repair-queue', 'merge-contacts'],
    })
    expect([run.success.observed, run.coverage]).toEqual([1, 1])
  })

  test('earns the reward whatever way it came about', async () => {
    const tasks = having('right', 1)
    expect(lines(await played('right-1', driver, { tasks }))).toEqual(expected(tasks, 'solved'))
  })

  test.each(['random', 'cheat'])('earns nothing when %s left it, and shows no test', async (policy) => {
    const attempts = await played(policy, driver, { tasks: here, look: showsNoTest })
    expect(lines(attempts)).toEqual(expected(here, 'not solved'))
  })
})

/** Lines of hidden tests and of what they must print that are long enough to be told from others. */
const hiddenLines = everyTask.map(({ id, checks, instruction, setup = '', files, solution }) => {
  const shown = [
    instruction,
    setup,
    ...Object.values(files).map((file) => Buffer.from((file as { data: Uint8Array }).data).toString()),
  ].join('\n')
  const hidden = [...checks.flatMap(({ script, expected }) => [script, expected]), solution]
    .join('\n')
    .split('\n')
    .map((line) => line.trim())
  return { id, hidden: [...new Set(hidden)].filter((line) => line.length >= 24 && !shown.includes(line)) }
})

/** Nothing that may be published holds a line of a test, of its right output or of the solution. */
async function showsNoTest(dir: string): Promise<void> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.json') || name.endsWith('.jsonl'))
  expect(files).toContain('trajectories.jsonl')
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  for (const { id, hidden } of hiddenLines) {
    expect(hidden.length, id).toBeGreaterThan(3)
    for (const line of hidden) {
      const written = JSON.stringify(line).slice(1, -1)
      expect(
        texts.some((text) => text.includes(written)),
        `${id} shows ${line}`,
      ).toBe(false)
    }
  }
}
