import { expect, test } from 'vitest'
import { OperationLog } from './operations.ts'

const code = (thrown: Promise<unknown>) => thrown.catch((error: { code?: string }) => error.code)

function counted() {
  const log = new OperationLog<{ step: number; pass: string }>()
  const done = { step: 0, pass: 0 }
  return {
    done,
    step: (run: string, seq: number, version?: number) =>
      log.take(
        'step',
        { run, seq, ...(version === undefined ? {} : { version }) },
        () => done.step,
        () => {
          done.step++
          return done.step
        },
      ),
    pass: (run: string, seq: number, work: () => string = () => 'passed') =>
      log.take(
        'pass',
        { run, seq },
        () => done.step,
        () => {
          done.pass++
          return work()
        },
      ),
  }
}

test('answers the last operation again without carrying it out again', async () => {
  const { step, pass, done } = counted()
  await pass('a', 1)
  expect(await step('a', 2)).toBe(1)
  expect(await step('a', 2)).toBe(1)
  expect(done.step).toBe(1)
})

test('refuses an operation that is early, late, or of another kind under a number that is taken', async () => {
  const { step, pass, done } = counted()
  await pass('a', 1)
  await step('a', 2)
  expect(await code(step('a', 4))).toBe('operation_out_of_order')
  expect(await code(pass('a', 1))).toBe('operation_out_of_order')
  expect(await code(pass('a', 2))).toBe('operation_out_of_order')
  expect(done).toEqual({ step: 1, pass: 1 })
})

test('carries out what was sent ahead in order, and what follows a failure not at all', async () => {
  const { step, pass } = counted()
  const broken = pass('a', 1, () => {
    throw new Error('broken')
  })
  const next = step('a', 2)
  await expect(broken).rejects.toThrow('broken')
  expect(await code(next)).toBe('operation_out_of_order')
  expect(await Promise.all([pass('a', 1), step('a', 2), step('a', 3)])).toEqual(['passed', 1, 2])
})

test('refuses an operation meant for another version of the weights', async () => {
  const { step } = counted()
  await step('a', 1, 0)
  expect(await code(step('a', 2, 0))).toBe('version_mismatch')
  expect(await step('a', 2, 1)).toBe(2)
})

test('lets a run that begins take the learner over, and the one before no more', async () => {
  const { step } = counted()
  await step('warm start', 1)
  await step('warm start', 2)
  expect(await code(step('training', 3))).toBe('operation_out_of_order')
  await step('training', 1)
  await expect(step('warm start', 3)).rejects.toThrow('run training has taken this learner over')
  expect(await step('training', 2)).toBe(4)
})
