import { expect, test } from 'vitest'
import type { TaskSummary } from '../../engine/index.ts'
import { recordedSplits, splitTasks } from './task-splits.ts'

/** So many tasks of each split. */
function tasksOf(counts: Record<string, number>): TaskSummary[] {
  const tasks = Object.entries(counts).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, at) => ({ id: `${split}-${at}`, split })),
  )
  return tasks.map((task, index) => ({ ...task, index, digest: '', content: '' }))
}

const idsOf = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id)

test('of one split, whatever its name, a part chooses and another is reported', () => {
  const found = splitTasks(tasksOf({ test: 50 }), {}, { seed: '0' })
  expect(found.names).toEqual({
    train: 'test',
    validation: 'test-held-out',
    test: 'test-reported',
    parts: ['validation', 'test'],
  })
  const { train, validation, test: reported } = found
  expect([train.length, validation.length, reported.length]).toEqual([34, 8, 8])
  const all = [...idsOf(train), ...idsOf(validation), ...idsOf(reported)]
  expect(new Set(all).size).toBe(50)
})

test('of tasks of which only the first were read none is trained on that is not of the split for it', () => {
  const read = (counts: Record<string, number>, wanted = {}) =>
    splitTasks(tasksOf(counts), wanted, { seed: '0', read: 50 }).names.train
  expect(() => read({ test: 50 })).toThrow(/Of the 50 tasks that were read \(-n\) none is of a split "train"/)
  expect(read({ test: 48, train: 2 })).toBe('train')
  expect(read({ test: 50 }, { train: 'test' })).toBe('test')
})

test('the seed says which, and the same seed says the same', () => {
  const heldBy = (seed: string) => idsOf(splitTasks(tasksOf({ test: 50 }), {}, { seed }).validation)
  expect(heldBy('1')).toEqual(heldBy('1'))
  expect(heldBy('1')).not.toEqual(heldBy('2'))
})

test('splits of their own are used as they are', () => {
  const found = splitTasks(tasksOf({ train: 5, validation: 2, test: 3 }), {}, { seed: '0' })
  expect(found.names).toEqual({ train: 'train', validation: 'validation', test: 'test' })
  expect([found.train.length, found.validation.length, found.test.length]).toEqual([5, 2, 3])
})

test('what is trained on by name is not reported: a part of it is', () => {
  const {
    names,
    test: reported,
    train,
  } = splitTasks(tasksOf({ train: 9, validation: 4, test: 40 }), { train: 'test' }, { seed: '0' })
  expect(names).toEqual({ train: 'test', validation: 'validation', test: 'test-reported', parts: ['test'] })
  expect([train.length, reported.length]).toEqual([32, 8])
})

test('of few tasks no more than a quarter is held out for each, and of three none', () => {
  const sizes = (count: number) => {
    const { train, validation, test: reported } = splitTasks(tasksOf({ only: count }), {}, { seed: '0' })
    return [train.length, validation.length, reported.length]
  }
  expect(sizes(12)).toEqual([6, 3, 3])
  expect(sizes(3)).toEqual([3, 0, 0])
  expect(sizes(5_000)).toEqual([4_744, 128, 128])
})

test('shares and none are as they are asked for', () => {
  const shares = { validation: { share: 0.5 }, test: { share: 0.25 } }
  const found = splitTasks(tasksOf({ train: 20 }), shares, { seed: '0' })
  expect([found.train.length, found.validation.length, found.test.length]).toEqual([5, 10, 5])
  const none = splitTasks(tasksOf({ train: 20, test: 9 }), { validation: false, test: false }, { seed: '0' })
  expect(none.names).toEqual({ train: 'train', validation: null, test: null })
})

test.each([
  ['two names', { train: 'test', test: 'test' }, /two things, train and test.*leave --test-split out/],
  ['a share of all', { test: { share: 0.9 }, validation: { share: 0.2 } }, /none is left to train on/],
  ['a typing error', { train: 'tets' }, /no split "tets".*did you mean "test"/],
])('refuses %s, and says what works', (_, wanted, says) => {
  expect(() => splitTasks(tasksOf({ test: 10 }), wanted, { seed: '0' })).toThrow(says)
})

test('what the refusal says works', () => {
  expect(splitTasks(tasksOf({ test: 50 }), { train: 'test' }, { seed: '0' }).names.test).toBe('test-reported')
})

test('what a training began without it goes on without', () => {
  const recorded = { train: 'train', validation: 'validation', test: null }
  const wanted = recordedSplits({}, recorded)
  expect(splitTasks(tasksOf({ train: 20, validation: 4 }), wanted, { seed: '0' }).names).toEqual(recorded)
})
