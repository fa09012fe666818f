import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundedMeanTest } from './bounded-mean-test.ts'
import { clopperPearsonInterval } from './clopper-pearson.ts'
import { mcnemarTest } from './mcnemar.ts'

const times = (n: number, value: number) => Array<number>(n).fill(value)
const range = [-1, 1] as const

describe('boundedMeanTest', () => {
  test("of -1, 0 and 1 is McNemar's exact test, whatever stayed equal", () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.nat(200), (lost, gained, equal) => {
        fc.pre(lost + gained + equal > 0)
        const values = [...times(lost, -1), ...times(gained, 1), ...times(equal, 0)]
        expect(boundedMeanTest(values, { range })!.p / mcnemarTest(lost, gained)!.p).toBeCloseTo(1, 9)
      }),
    )
  })

  test("of zeros and ones is Clopper and Pearson's: their bounds are where it is 2.5 %", () => {
    for (const [k, n] of [
      [7, 30],
      [1, 10],
      [380, 400],
    ] as const) {
      const values = [...times(k, 1), ...times(n - k, 0)]
      const [low, high] = clopperPearsonInterval(k, n)!
      expect(boundedMeanTest(values, { mean: low, range: [0, 1] })!.pAbove).toBeCloseTo(0.025, 9)
      expect(boundedMeanTest(values, { mean: high, range: [0, 1] })!.pBelow).toBeCloseTo(0.025, 9)
    }
  })

  test('a chance of many zeros is exact to the last digits', () => {
    expect(boundedMeanTest(times(1000, -1), { range })!.pBelow / 2 ** -1000).toBeCloseTo(1, 9)
    expect(boundedMeanTest(times(5000, -1), { range })!.pBelow).toBe(Number.MIN_VALUE)
  })

  test('is what random weights give', () => {
    // 2 million draws of exponential weights: P(sum of weight times value, with one more at 1, is not below zero).
    expect(boundedMeanTest([-0.3, 0.2, -0.7, 0.11, -0.5, -0.05, 0.4, -0.33], { range })!.pBelow).toBeCloseTo(
      0.4271,
      3,
    )
  })

  test('depends on neither unit nor side, and lies in (0, 1]', () => {
    const share = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(share, { minLength: 1, maxLength: 40 }),
        fc.constantFrom(1e-10, 1e-3, 1e8, 1e300),
        fc.double({ min: -0.5, max: 0.5, noNaN: true }),
        (values, unit, mean) => {
          const found = boundedMeanTest(values, { mean, range })!
          for (const p of [found.p, found.pAbove, found.pBelow]) expect(p > 0 && p <= 1).toBe(true)
          const scaled = boundedMeanTest(
            values.map((value) => -unit * value),
            { mean: -unit * mean, range: [-unit, unit] },
          )!
          expect(scaled.pAbove).toBeCloseTo(found.pBelow, 7)
          expect(scaled.pBelow).toBeCloseTo(found.pAbove, 7)
        },
      ),
    )
  })

  test('a lower value never speaks more for a high mean', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 15 }),
        fc.nat(),
        (values, place) => {
          const lower = values.with(place % values.length, -1)
          const [less, more] = [boundedMeanTest(lower, { range })!, boundedMeanTest(values, { range })!]
          expect(less.pBelow).toBeLessThanOrEqual(more.pBelow + 1e-9)
        },
      ),
    )
  })

  test('many small losses and few large gains are no proof of a loss', () => {
    // A tenth of the tasks may gain 0.9 where the rest loses 0.1: the mean is zero, and thirty tasks may miss it.
    expect(boundedMeanTest(times(28, -0.1), { range })!.pBelow).toBeGreaterThan(0.05)
    expect(boundedMeanTest(times(40, -0.1), { range })!.pBelow).toBeLessThan(0.05)
  })

  test('nothing to test is null', () => {
    expect(boundedMeanTest([], { range })).toBeNull()
    expect(boundedMeanTest([2], { range })).toBeNull()
    expect(boundedMeanTest([Number.NaN], { range })).toBeNull()
    expect(boundedMeanTest([0], { range: [0, Number.POSITIVE_INFINITY] })).toBeNull()
    expect(boundedMeanTest([0], { range: [1, -1] })).toBeNull()
    expect(boundedMeanTest([0, 0], { range })).toEqual({ pBelow: 1, pAbove: 1, p: 1 })
    expect(boundedMeanTest([1, 1], { range, mean: 1 })!.pBelow).toBe(1)
    expect(boundedMeanTest([0.5], { range, mean: 1 })!.pBelow).toBe(Number.MIN_VALUE)
  })
})
