import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseToken } from './choose-token.ts'
import { drawAt, seedWords } from './seeded-draw.ts'

const whole = { temperature: 1, topK: 0, topP: 1 }
/** Shares of 0.5, 0.25, 0.125 and 0.125. */
const logits = Float32Array.from([3, 1, 2, 1].map((power) => Math.log(2) * power))

/** How often each token is chosen of 4,000 draws, spread evenly. */
function sharesOf(choice: Parameters<typeof chooseToken>[1], of = logits): number[] {
  const counts = Array.from(of, () => 0)
  for (let at = 0; at < 4000; at++) counts[chooseToken(of, choice, (at + 0.5) / 4000)]! += 1
  return counts.map((count) => count / 4000)
}

describe('a token', () => {
  it('is chosen as often as its logit says, at any temperature', () => {
    expect(sharesOf(whole)).toEqual([0.5, 0.125, 0.25, 0.125])
    // Half the temperature squares the shares: 16, 1, 4 and 1 of 22.
    const [first, second] = sharesOf({ ...whole, temperature: 0.5 })
    expect(first).toBeCloseTo(16 / 22, 3)
    expect(second).toBeCloseTo(1 / 22, 3)
  })

  it('is the likeliest without temperature, the first among equals', () => {
    expect(sharesOf({ ...whole, temperature: 0 })).toEqual([1, 0, 0, 0])
    expect(chooseToken(Float32Array.of(1, 2, 2), { ...whole, temperature: 0 }, 0.9)).toBe(1)
  })

  it('is one of the likeliest where the rest is cut', () => {
    expect(sharesOf({ ...whole, topK: 1 })).toEqual([1, 0, 0, 0])
    expect(sharesOf({ ...whole, topK: 2 }).map((share) => Math.round(share * 3))).toEqual([2, 0, 1, 0])
    // Among equals the lower id is kept.
    expect(sharesOf({ ...whole, topK: 3 })[3]).toBe(0)
    expect(sharesOf({ ...whole, topK: 9 })).toEqual(sharesOf(whole))
  })

  it('is one of the fewest that hold the share that is asked for', () => {
    expect(sharesOf({ ...whole, topP: 0.5 })).toEqual([1, 0, 0, 0])
    expect(sharesOf({ ...whole, topP: 0.51 })[2]).toBeGreaterThan(0.3)
    expect(sharesOf({ ...whole, topP: 0.51 })[1]).toBe(0)
    // The share is of what topK left: two thirds and one third.
    expect(sharesOf({ ...whole, topK: 2, topP: 0.6 })).toEqual([1, 0, 0, 0])
    expect(sharesOf({ ...whole, topP: 1e-9 })).toEqual([1, 0, 0, 0])
  })

  it('is none where the logits are no distribution', () => {
    for (const bad of [Number.NaN, Infinity]) {
      expect(chooseToken(Float32Array.of(0, bad), whole, 0.5)).toBe(-1)
      expect(chooseToken(Float32Array.of(0, bad), { ...whole, temperature: 0 }, 0.5)).toBe(-1)
    }
    expect(chooseToken(Float32Array.of(-Infinity, -Infinity), whole, 0.5)).toBe(-1)
    expect(chooseToken(Float32Array.of(-Infinity, 0), whole, 0)).toBe(1)
  })

  it('is one of the vocabulary whatever is drawn', () => {
    fc.assert(
      fc.property(
        fc.float32Array({ minLength: 1, maxLength: 9, noNaN: true, min: -80, max: 80 }),
        fc.record({
          temperature: fc.constantFrom(0, 1e-6, 0.3, 1, 100),
          topK: fc.nat(9),
          topP: fc.double({ min: 1e-9, max: 1, noNaN: true }),
        }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (some, choice, draw) => {
          const token = chooseToken(some, choice, draw)
          expect(token).toBeGreaterThanOrEqual(0)
          expect(token).toBeLessThan(some.length)
        },
      ),
    )
  })
})

describe('a draw', () => {
  it('is spread evenly over positions and over seeds', () => {
    const positions = Array.from({ length: 20_000 }, (_, at) => drawAt(seedWords('one'), at))
    const seeds = Array.from({ length: 20_000 }, (_, at) => drawAt(seedWords(`seed ${at}`), 3))
    for (const draws of [positions, seeds]) {
      const tenths = Array.from({ length: 10 }, () => 0)
      for (const draw of draws) tenths[Math.floor(draw * 10)]! += 1
      // Each is within five standard deviations (42) of 2,000.
      for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(212)
      const mean = (of: number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length
      const pairs = draws.slice(1).map((draw, at) => (draw - 0.5) * (draws[at]! - 0.5))
      // The standard deviation of the mean of products of neighbours is 1/12 / sqrt(20000).
      expect(Math.abs(mean(pairs))).toBeLessThan(5 / 12 / Math.sqrt(20_000))
    }
  })

  it('is the same for the same seed and position, on every machine and version', () => {
    expect(drawAt(seedWords('seed'), 0)).toBe(0.5790295871804694)
    expect(drawAt(seedWords('seed'), 7)).toBe(0.5433780152587103)
  })
})
