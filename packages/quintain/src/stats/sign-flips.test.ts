import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { benjaminiHochberg } from './benjamini-hochberg.ts'
import { holm } from './holm.ts'
import { mcnemarTest } from './mcnemar.ts'
import { signFlipTest } from './sign-flip-test.ts'
import { signFlips } from './sign-flips.ts'
import { signTest } from './sign-test.ts'

const fractions = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 14 })

describe('signFlips', () => {
  test('counting by sums is visiting every pattern', () => {
    // Twelve pairs of values that cancel by size push it over the limit of visiting; zeros do not count.
    fc.assert(
      fc.property(fractions, fc.constantFrom(1, 3, 7, 8), (steps, q) => {
        const values = steps.map((step) => step / q)
        const visited = signFlipTest(values)
        const padded = [...values, ...Array<number>(30).fill(0)]
        expect(signFlips(padded).p).toBeCloseTo(visited!, 12)
      }),
    )
  })

  test('plain wins and losses of any number are the sign test', () => {
    for (const [b, c] of [
      [300, 240],
      [700, 800],
      [25, 0],
    ] as const) {
      const found = signFlips([...Array<number>(b).fill(1), ...Array<number>(c).fill(-1)])
      expect(found.method).toBe('exact')
      expect(found.p / signTest(b, c)!).toBeCloseTo(1, 9)
    }
  })

  test('sampled p agrees with the exact one, repeats with the seed, and is never zero', () => {
    const values = Array.from({ length: 60 }, (_, i) => Math.sin(i * 1.7) + 0.15)
    const found = signFlips(values)
    expect(found).toMatchObject({ method: 'sampled', draws: 10_000, flipped: 60 })
    expect(signFlips(values)).toEqual(found)
    const near = signFlips(values.map((value) => Math.round(value * 100) / 100))
    expect(near.method).toBe('exact')
    expect(Math.abs(found.p - near.p)).toBeLessThan(0.02)
    const apart = signFlips(Array.from({ length: 40 }, (_, i) => 1 + Math.sqrt(i + 2)))
    expect(apart.p).toBe(1 / 10_001)
  })

  test('the unit of the values does not matter, whether they are tiny, huge or both', () => {
    fc.assert(
      fc.property(fractions, fc.constantFrom(1e-300, 1e-10, 1e-7, 1e5, 1e307), (steps, unit) => {
        for (const padding of [0, 25]) {
          const values = [...steps, ...Array<number>(padding).fill(1)]
          const found = signFlips(values.map((value) => value * unit))
          expect(found.method).toBe('exact')
          expect(found.p).toBeCloseTo(signFlips(values).p, 12)
          expect(found.p).toBeGreaterThan(0)
        }
      }),
    )
    // Fractions of another unit than one, as the gains of a price list are.
    const uneven = Array.from({ length: 30 }, (_, i) => 1.1e-4 * ((i % 5) + 1))
    expect(signFlips(uneven)).toMatchObject({ p: 2 ** -29, method: 'exact' })
  })

  test('values far smaller than the others are not rounded to zero', () => {
    const tiny = Array<number>(25).fill(1e-10)
    const found = signFlips([...tiny, 5, -4])
    expect(found).toMatchObject({ flipped: 27, method: 'sampled' })
    // The sum of the two large ones is 1 or 9 either way: half the patterns are at least as far.
    expect(found.p).toBeGreaterThan(0.4)
    expect(found.p).toBeLessThan(0.6)
    // One large value is always far; the sign of its sum is all there is.
    expect(signFlips([...tiny, 1e10]).p).toBeGreaterThan(0)
  })

  test('draws that would take long are not made, and the result says how many were', () => {
    const values = Array.from({ length: 400_000 }, (_, i) => Math.sin(i))
    expect(signFlips(values, { draws: 1e9 }).draws).toBe(1000)
    expect(signFlips(values.slice(0, 50), { draws: Number.NaN }).draws).toBe(99)
  })

  test('nothing to flip is no evidence', () => {
    expect(signFlips([])).toEqual({ p: 1, method: 'exact', flipped: 0 })
    expect(signFlips([0, 0, Number.NaN])).toMatchObject({ p: 1, flipped: 0 })
  })

  test('a p that no number can hold is still above zero', () => {
    expect(signFlips(Array<number>(5000).fill(1)).p).toBeGreaterThan(0)
    expect(signTest(5000, 0)).toBeGreaterThan(0)
  })
})

describe('mcnemarTest', () => {
  // The published least significant patterns: Fagerland et al., and 6-0, 8-1, 10-2, 12-3, 15-5.
  test.each([
    [6, 0, 0.03125, 0.015625],
    [8, 1, 0.0390625, 0.021484375],
    [4, 4, 1, 1],
    [0, 0, 1, 1],
  ])('%d to %d', (b, c, p, midP) => {
    expect(mcnemarTest(b, c)?.p).toBeCloseTo(p, 12)
    expect(mcnemarTest(b, c)?.midP).toBeCloseTo(midP, 12)
    expect(mcnemarTest(c, b)?.midP).toBeCloseTo(midP, 12)
  })

  test('needs counts; mid-p is never above p, and both stay above zero', () => {
    expect(mcnemarTest(0.5, 1)).toBeNull()
    fc.assert(
      fc.property(fc.nat(3000), fc.nat(3000), (b, c) => {
        const { p, midP } = mcnemarTest(b, c)!
        expect(midP).toBeLessThanOrEqual(p)
        expect(midP).toBeGreaterThan(0)
      }),
    )
  })
})

describe('several comparisons', () => {
  test('the textbook example', () => {
    const ps = [0.01, 0.04, 0.03, 0.005]
    holm(ps).forEach((p, i) => void expect(p).toBeCloseTo([0.03, 0.06, 0.06, 0.02][i]!, 12))
    benjaminiHochberg(ps).forEach((p, i) => void expect(p).toBeCloseTo([0.02, 0.04, 0.04, 0.02][i]!, 12))
  })

  test('one is left as it is, no test stays none and does not count', () => {
    expect(holm([0.04])).toEqual([0.04])
    expect(holm([null, 0.04, Number.NaN])).toEqual([null, 0.04, null])
    expect(benjaminiHochberg([])).toEqual([])
    expect(holm([0, 1])).toEqual([0, 1])
  })

  test('adjusting never lowers p nor turns an order, and Holm is the stricter', () => {
    const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
    fc.assert(
      fc.property(values, (ps) => {
        const [strict, lax] = [holm(ps), benjaminiHochberg(ps)]
        for (const [i, p] of ps.entries()) {
          expect(lax[i]!).toBeGreaterThanOrEqual(p)
          expect(strict[i]!).toBeGreaterThanOrEqual(lax[i]! - 1e-12)
          expect(strict[i]!).toBeLessThanOrEqual(1)
          for (const [j, other] of ps.entries())
            if (p < other) expect(strict[i]!).toBeLessThanOrEqual(strict[j]!)
        }
      }),
    )
  })
})
