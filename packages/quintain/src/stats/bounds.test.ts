import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { meanBounds, pairedBounds } from './missing-bounds.ts'
import { pairedDifference } from './paired.ts'
import { reduceRepeats, reducerNamed, withRepeats } from './reducer.ts'
import { pairedVarianceSplit, varianceSplit } from './variance-split.ts'

const scores = (record: Record<string, number | null | (number | null)[]>) => new Map(Object.entries(record))

describe('meanBounds', () => {
  test('all lost rollouts failed, or all succeeded', () => {
    const tasks = [...Array<number>(6).fill(1), 0, 0, null, null].map((score) => [score])
    const found = meanBounds(tasks, { range: [0, 1] })
    expect(found).toMatchObject({ low: 0.6, high: 0.8, missing: 2, planned: 10, scope: 'new tasks' })
    expect(found.interval![0]).toBeLessThan(0.6)
    expect(found.interval![1]).toBeGreaterThan(0.8)
  })

  test('rewards below zero have a range too; one outside it is a contradiction', () => {
    expect(meanBounds([[-1, null], [0.5]], { range: [-2, 1] })).toMatchObject({
      low: -2.5 / 3,
      high: 0.5 / 3,
    })
    expect(meanBounds([[-3]], { range: [-2, 1] })).toMatchObject({ low: null, reason: 'out_of_range' })
  })

  test('a range without an end bounds nothing', () => {
    for (const range of [
      [0, Number.POSITIVE_INFINITY],
      [Number.NaN, 1],
      [1, 0],
    ] as const) {
      expect(meanBounds([[1, null], [0]], { range })).toMatchObject({
        low: null,
        high: null,
        reason: 'bad_range',
      })
      const side = new Map([
        ['a', 1],
        ['b', null],
      ])
      expect(pairedBounds(side, side, { range })).toMatchObject({
        low: null,
        interval: null,
        reason: 'bad_range',
      })
    }
  })

  test('nothing planned, one task, all alike', () => {
    expect(meanBounds([], { range: [0, 1] })).toMatchObject({ low: null, reason: 'nothing_planned' })
    expect(meanBounds([[1, null]], { range: [0, 1] })).toMatchObject({
      low: 0.5,
      high: 1,
      reason: 'single_cluster',
    })
    expect(meanBounds([[1], [1]], { range: [0, 1] })).toMatchObject({ low: 1, high: 1, reason: 'no_spread' })
    expect(meanBounds([[1], [0]], { range: [0, 1], level: 95 })).toMatchObject({
      reason: 'level_out_of_range',
    })
  })
})

describe('pairedBounds', () => {
  test('a task that one side lacks is as bad, and as good, as can be', () => {
    const found = pairedBounds(scores({ x: 1, y: [1, null] }), scores({ x: 0, z: 1 }), { range: [0, 1] })
    // x: 1. y: 0.5 to 1 against 0 to 1. z: 0 to 1 against 1.
    expect(found.low).toBeCloseTo((1 - 0.5 - 1) / 3, 12)
    expect(found.high).toBeCloseTo((1 + 1 + 0) / 3, 12)
    expect(found).toMatchObject({ missing: 3, planned: 7 })
  })

  test('with nothing missing they are the difference', () => {
    const [a, b] = [scores({ x: 1, y: 0, z: 1 }), scores({ x: 0, y: 0, z: 1 })]
    const { difference, interval } = pairedDifference(a, b)
    expect(pairedBounds(a, b, { range: [0, 1] })).toMatchObject({
      low: difference,
      high: difference,
      interval,
    })
  })

  test('whatever the missing scores were, the difference lies between them', () => {
    const score = fc.option(fc.constantFrom(0, 0.5, 1))
    const sides = fc.array(fc.tuple(score, score, fc.constantFrom(0, 1), fc.constantFrom(0, 1)), {
      minLength: 1,
    })
    fc.assert(
      fc.property(sides, (tasks) => {
        const side = (at: 0 | 1) => new Map(tasks.map((task, i) => [`t${i}`, task[at]]))
        const { low, high } = pairedBounds(side(0), side(1), { range: [0, 1] })
        const truth = tasks.reduce((sum, [a, b, ifA, ifB]) => sum + (a ?? ifA) - (b ?? ifB), 0) / tasks.length
        expect(low!).toBeLessThanOrEqual(truth + 1e-12)
        expect(high!).toBeGreaterThanOrEqual(truth - 1e-12)
      }),
    )
  })

  test('nothing planned, and what contradicts the range', () => {
    expect(pairedBounds(scores({}), scores({}), { range: [0, 1] })).toMatchObject({
      reason: 'nothing_planned',
    })
    expect(pairedBounds(scores({ x: 2 }), scores({ x: 0 }), { range: [0, 1] })).toMatchObject({
      low: null,
      reason: 'out_of_range',
    })
  })
})

describe('varianceSplit', () => {
  test('tasks that differ, repeats that do not; and the other way round', () => {
    expect(
      varianceSplit([
        [1, 1],
        [0, 0],
      ]),
    ).toMatchObject({ between: 0.5, within: 0 })
    expect(
      varianceSplit([
        [1, 0],
        [0, 1],
      ]),
    ).toMatchObject({ between: 0, within: 0.5 })
  })

  test('unequal repeats: a task with one repeat says nothing of the spread inside', () => {
    const found = varianceSplit([[1, 0], [1], [0, 0, 1, 1], [null]])
    expect(found).toMatchObject({ tasks: 3, repeatedTasks: 2 })
    expect(found.within).toBeCloseTo((0.5 + 1 / 3) / 2, 12)
    expect(varianceSplit([[1], [0]])).toMatchObject({ between: null, reason: 'single_repeats' })
    expect(varianceSplit([[1, 0]])).toMatchObject({ between: null, within: 0.5, reason: 'single_task' })
    expect(varianceSplit([])).toMatchObject({ between: null, within: null, reason: 'no_scores' })
  })

  test('of pairs', () => {
    const a = scores({ x: [1, 1], y: [1, 1], only: [1, 1] })
    const b = scores({ x: [0, 0], y: [1, 1] })
    expect(pairedVarianceSplit(a, b)).toEqual({ between: 0.5, within: 0, withinOther: 0, pairs: 2 })
    expect(pairedVarianceSplit(a, scores({ x: 1, y: 0 }))).toMatchObject({ reason: 'single_repeats' })
    expect(pairedVarianceSplit(a, scores({ x: [1, 1] }))).toMatchObject({ reason: 'single_pair' })
    expect(pairedVarianceSplit(a, scores({}))).toMatchObject({ reason: 'no_pairs' })
  })
})

describe('reducers', () => {
  test('another number of repeats keeps the reducer, and says when it is too few', () => {
    const declared = { repeats: 5, reducer: 'pass_at_2' } as const
    expect(withRepeats(declared, 10)).toEqual({ repeats: 10, reducer: 'pass_at_2', short: false })
    expect(withRepeats(declared, 1)).toEqual({ repeats: 1, reducer: 'pass_at_2', short: true })
    expect(withRepeats(declared)).toMatchObject({ repeats: 5 })
  })

  test('make one number of a task', () => {
    const repeats = [1, 0, null, 1]
    expect(reduceRepeats('mean', repeats)).toEqual({ value: 2 / 3 })
    expect(reduceRepeats('median', repeats)).toEqual({ value: 1 })
    expect(reduceRepeats('median', [-1e308, 1e308])).toEqual({ value: 0 })
    expect(reduceRepeats('median', [-1.5e308, -1, 1, 1.6e308])).toEqual({ value: 0 })
    expect(reduceRepeats('min', repeats)).toEqual({ value: 0 })
    expect(reduceRepeats('max', [-2, -1])).toEqual({ value: -1 })
    expect(reduceRepeats('pass_at_2', repeats)).toEqual({ value: 1 })
    expect(reduceRepeats('pass_hat_2', repeats).value).toBeCloseTo(1 / 3, 12)
    expect(reduceRepeats('pass_hat_4', repeats)).toEqual({ value: null, reason: 'k_exceeds_n' })
    expect(reduceRepeats('mean', [null])).toEqual({ value: null, reason: 'no_scores' })
  })

  test('are known by name', () => {
    expect(reducerNamed('pass_hat_4')).toBe('pass_hat_4')
    for (const name of ['pass_at_0', 'pass_at_', 'pass_at_1.5', 'mode', 'constructor']) {
      expect(reducerNamed(name)).toBeNull()
    }
  })
})
