import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { environment, readManifest } from '../core/index.ts'
import { startRun } from './run.ts'
import type { RunOptions } from './run-options.ts'

/** Two of three tasks are passed by whoever says "yes", and one by whoever says nothing at all. */
const env = environment({
  tasks: ['yes', 'yes', ''].map((answer, at) => ({ id: `t${at}`, prompt: 'Shall we?', secret: { answer } })),
  rewards: { right: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.right === 1,
  *oracle({ task }) {
    yield task.secret.answer
  },
  policies: {
    *yes() {
      yield 'yes'
    },
    *breaks() {
      yield 'a'
      throw new Error('not today')
    },
  },
  floor: ['noop', 'yes', 'breaks'],
})

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-floor-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function floorOf(options: Partial<RunOptions>) {
  const dir = join(folder, 'run')
  const seats = { agent: { policy: 'script:oracle' } }
  await startRun({ env, seats, dir, floor: true, ...options })
  return (await readManifest(dir)).floor
}

describe('the floor of an environment', () => {
  test('is what its policies that know nothing reach on the tasks of the run', async () => {
    expect(await floorOf({ repeats: 4 })).toEqual([
      { policy: 'script:noop', tasks: 3, scored: 3, success: 1 / 3, reward: 1 / 3 },
      { policy: 'script:yes', tasks: 3, scored: 3, success: 2 / 3, reward: 2 / 3 },
      { policy: 'script:breaks', tasks: 3, scored: 3, success: 0, reward: 0 },
    ])
  })

  test('is measured on the tasks that were asked for, and leaves nothing but its figures', async () => {
    vi.stubEnv('TMPDIR', folder)
    expect(await floorOf({ tasks: ['t2'] })).toMatchObject([
      { policy: 'script:noop', tasks: 1, success: 1 },
      { policy: 'script:yes', tasks: 1, success: 0 },
      { policy: 'script:breaks', tasks: 1, success: 0 },
    ])
    expect(await readdir(folder)).toEqual(['run'])
  })

  test('is not measured unless it is asked for', async () => {
    expect(await floorOf({ floor: false })).toBeUndefined()
  })

  test('is not measured where a model would have to be paid for it', async () => {
    const two = environment({ ...env.definition, seats: { other: {} } } as Parameters<typeof environment>[0])
    const model = { id: 'paid:model', generate: () => Promise.reject(new Error('called')) }
    const seats = { agent: { policy: 'script:oracle' }, other: { model } }
    expect(await floorOf({ env: two, seats })).toBeUndefined()
  })
})

describe('a definition', () => {
  test('whose floor names a policy that there is not is refused, with the nearest name', () => {
    expect(() => environment({ ...env.definition, floor: ['yess'] })).toThrow(/"floor".*"yess".*yes/)
  })
})
