import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateRate } from './estimate.ts'
import { triesOf, triesText } from './tries.ts'

const values = (found: { value: number }[] | undefined) => found?.map(({ value }) => Number(value.toFixed(4)))

test('pass@k and pass^k of four tries, as worked out by hand', () => {
  const tries = triesOf([
    [1, 1, 1, 1],
    [1, 1, 0, 0],
    [0, 0, 0, 1],
    [0, 0, 0, 0],
  ])
  // C(2,2)/C(4,2) = 1/6 for the second task; at least one of two of it: 1 - C(2,2)/C(4,2) = 5/6; of the third 1/2.
  expect(values(tries?.passHatK)).toEqual([0.4375, Number(((1 + 1 / 6) / 4).toFixed(4)), 0.25, 0.25])
  expect(values(tries?.passAtK)).toEqual([0.4375, Number(((1 + 5 / 6 + 1 / 2) / 4).toFixed(4)), 0.6875, 0.75])
  expect(tries).toMatchObject({ least: 4, tasks: 4, always: 1, sometimes: 2, never: 1 })
})

test('needs two scored tries of every task, and goes up to the fewest', () => {
  expect(triesOf([])).toBeNull()
  expect(triesOf([[1], [1, 1]])).toBeNull()
  expect(
    triesOf([
      [1, Number.NaN],
      [1, 1],
    ]),
  ).toBeNull()
  expect(
    triesOf([
      [1, 1, 0],
      [1, Number.NaN, 0, 0, 1],
    ])?.passAtK.map(({ k }) => k),
  ).toEqual([1, 2, 3])
  expect(
    triesOf([Array.from({ length: 20 }, () => 1), Array.from({ length: 12 }, () => 0)])?.passHatK.map(
      ({ k }) => k,
    ),
  ).toEqual([1, 2, 4, 8, 12])
})

test('one task has no interval, and tasks that are all alike have one all the same', () => {
  const [only] = triesOf([[1, 0]])?.passAtK ?? []
  expect(only).toMatchObject({ value: 0.5, interval: null })
  const [low] =
    triesOf([
      [1, 1],
      [1, 1],
      [1, 1],
    ])?.passHatK[1]?.interval ?? []
  expect(low).toBeGreaterThan(0.3)
  expect(low).toBeLessThan(1)
  expect(
    triesText(
      triesOf([
        [1, 0],
        [1, 0],
      ])?.passAtK ?? [],
    ),
  ).toMatch(/^1: 0\.500 \[0\.\d{3}, 0\.\d{3}\], 2: 1\.000 \[/)
})

test('pass^k never rises with k, pass@k never falls, both lie in their intervals', () => {
  const task = fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(task, { minLength: 2, maxLength: 12 }), (tasks) => {
      const { passAtK, passHatK } = triesOf(tasks)!
      for (const [i, { value }] of passAtK.entries()) {
        expect(value).toBeGreaterThanOrEqual((passAtK[i - 1]?.value ?? 0) - 1e-12)
        expect(passHatK[i]!.value).toBeLessThanOrEqual((passHatK[i - 1]?.value ?? 1) + 1e-12)
      }
      for (const { value, interval } of [...passAtK, ...passHatK]) {
        expect(interval![0]).toBeLessThanOrEqual(value + 1e-9)
        expect(interval![1]).toBeGreaterThanOrEqual(value - 1e-9)
        expect(interval![0]).toBeGreaterThanOrEqual(0)
        expect(interval![1]).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('one try is the success rate, interval and all, where every task has as many', () => {
  const tasks = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 3 }), {
    minLength: 2,
    maxLength: 9,
  })
  fc.assert(
    fc.property(tasks, (scores) => {
      const { value, interval } = estimateRate(scores)
      const [once] = triesOf(scores)!.passAtK
      expect(once!.value).toBeCloseTo(value!, 12)
      expect(once!.interval![0]).toBeCloseTo(interval[0], 9)
      expect(once!.interval![1]).toBeCloseTo(interval[1], 9)
    }),
  )
})
