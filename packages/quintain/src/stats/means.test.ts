import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clusteredMean } from './clustered-mean.ts'
import { coverageOf, taskCoverage } from './coverage.ts'
import { mean } from './mean.ts'
import { quantile } from './quantile.ts'
import { repeatMean } from './repeat-mean.ts'
import { standardError } from './standard-error.ts'

const scores = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 1, maxLength: 40 })

describe('mean', () => {
  test('a missing score is not a zero', () => {
    expect(mean([1, null, 0])).toEqual({ mean: 0.5, n: 2, unscored: 1 })
    expect(mean([1, Number.NaN, Infinity])).toEqual({ mean: 1, n: 1, unscored: 2 })
    expect(mean([null])).toEqual({ mean: null, n: 0, unscored: 1 })
  })

  test('small numbers survive between large ones', () => {
    expect(mean([1e16, 1, -1e16, 1]).mean).toBe(0.5)
  })
})

describe('standardError', () => {
  test('is null, not zero and not NaN, for one score', () => {
    expect(standardError([1])).toMatchObject({
      mean: 1,
      stderr: null,
      interval: null,
      reason: 'single_score',
    })
    expect(standardError([])).toMatchObject({ mean: null, stderr: null, reason: 'no_scores' })
  })

  test('1, 2, 3, 4', () => {
    const found = standardError([1, 2, 3, 4])
    expect(found.stderr).toBeCloseTo(0.6454972243679028, 12)
    expect(found.interval?.[0]).toBeCloseTo(0.44573974323947924, 8)
  })
})

describe('clusteredMean', () => {
  test('with one score a cluster it is the usual standard error', () => {
    fc.assert(
      fc.property(scores, (values) => {
        fc.pre(values.length > 1)
        const clustered = clusteredMean(values.map((value) => [value]))
        expect(clustered.stderr).toBeCloseTo(standardError(values).stderr!, 9)
      }),
    )
  })

  test('the order of clusters and of scores does not matter, and a shift moves the mean alone', () => {
    fc.assert(
      fc.property(fc.array(scores, { minLength: 2, maxLength: 10 }), (clusters) => {
        const straight = clusteredMean(clusters)
        const turned = clusteredMean(clusters.toReversed().map((cluster) => cluster.toReversed()))
        const moved = clusteredMean(clusters.map((cluster) => cluster.map((value) => value + 7)))
        expect(turned.stderr).toBeCloseTo(straight.stderr!, 9)
        expect(moved.stderr).toBeCloseTo(straight.stderr!, 9)
        expect(moved.mean).toBeCloseTo(straight.mean! + 7, 9)
      }),
    )
  })

  test('copying every score inside its cluster adds nothing', () => {
    const once = clusteredMean([[1], [0], [1], [0.25]])
    const often = clusteredMean([1, 0, 1, 0.25].map((value) => Array<number>(50).fill(value)))
    expect(often.stderr).toBeCloseTo(once.stderr!, 12)
    expect(often.naiveStderr).toBeLessThan(once.stderr! / 5)
  })

  test('one cluster has no standard error', () => {
    expect(clusteredMean([[1, 0, 1]])).toMatchObject({
      stderr: null,
      interval: null,
      reason: 'single_cluster',
    })
    expect(clusteredMean([[], []])).toMatchObject({ mean: null, reason: 'no_scores' })
  })
})

describe('repeatMean', () => {
  test('knows nothing of the spread between tasks', () => {
    const near = repeatMean([
      [1, 0],
      [1, 0],
    ])
    const far = repeatMean([
      [11, 10],
      [1, 0],
    ])
    expect(far.stderr).toBeCloseTo(near.stderr!, 12)
    expect(near.stderr).toBeCloseTo(0.35355339059327373, 12)
  })

  test('says why there is nothing', () => {
    expect(repeatMean([[1], [0, 1]])).toMatchObject({ interval: null, reason: 'single_repeats' })
    expect(repeatMean([[1, 1]])).toMatchObject({ interval: null, reason: 'no_spread' })
    expect(repeatMean([])).toMatchObject({ mean: null, reason: 'no_scores' })
  })
})

describe('quantile', () => {
  test('as NumPy interpolates', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5)
    expect(quantile([15, 20, 35, 40, 50], 0.4)).toBeCloseTo(29, 12)
    expect(quantile([7], 0.99)).toBe(7)
    expect(quantile([], 0.5)).toBeNull()
    expect(quantile([1], 1.5)).toBeNull()
  })

  test('rises with q and stays inside the data', () => {
    fc.assert(
      fc.property(
        scores,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, a, b) => {
          const sorted = values.toSorted((x, y) => x - y)
          const low = quantile(sorted, Math.min(a, b))!
          const high = quantile(sorted, Math.max(a, b))!
          expect(low).toBeLessThanOrEqual(high + 1e-9)
          expect(low).toBeGreaterThanOrEqual(sorted[0]!)
          expect(high).toBeLessThanOrEqual(sorted.at(-1)!)
        },
      ),
    )
  })
})

describe('coverageOf', () => {
  test('a single survivor is no headline', () => {
    const infra = { score: null, error: true }
    expect(coverageOf([{ score: 1 }, infra, infra, infra], { planned: 4 })).toMatchObject({
      mean: 1,
      scored: 1,
      coverage: 0.25,
      headlineValid: false,
      low: 0.25,
      high: 1,
    })
  })

  test('a declared minimum makes a headline; nothing scored never does', () => {
    expect(coverageOf([{ score: 1 }], { planned: 2, minCoverage: 0.5 }).headlineValid).toBe(true)
    expect(coverageOf([], { planned: 2, minCoverage: 0 }).headlineValid).toBe(false)
    expect(coverageOf([])).toMatchObject({
      planned: 0,
      coverage: null,
      low: null,
      high: null,
      headlineValid: false,
    })
  })

  test('every planned sample is scored or unscored, and the bounds hold the mean', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ score: fc.option(fc.constantFrom(0, 1, 0.5)), error: fc.boolean() })),
        fc.nat(60),
        (samples, planned) => {
          const found = coverageOf(samples, { planned })
          expect(found.scored + found.unscored).toBe(found.planned)
          if (found.mean !== null && found.planned > 0) {
            expect(found.low).toBeLessThanOrEqual(found.mean + 1e-12)
            expect(found.high).toBeGreaterThanOrEqual(found.mean - 1e-12)
          }
        },
      ),
    )
  })

  test('a task whose trials all broke does not vanish', () => {
    expect(
      taskCoverage(
        [
          [null, null],
          [1, 1],
        ],
        2,
      ),
    ).toEqual({
      plannedTasks: 2,
      scoredTasks: 1,
      completeTasks: 1,
      headlineValid: false,
    })
    expect(taskCoverage([[1]], 3).headlineValid).toBe(false)
    expect(taskCoverage([[1], [0]]).headlineValid).toBe(true)
  })
})
