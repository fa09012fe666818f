import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { discordantEValue } from './discordant-e-value.ts'
import { obrienFleming } from './obrien-fleming.ts'
import { SequentialComparison } from './sequential-comparison.ts'

function after(
  differences: readonly (number | null)[],
  options: ConstructorParameters<typeof SequentialComparison>[0] = {},
) {
  const test = new SequentialComparison(options)
  for (const difference of differences) test.add(difference)
  return test.state()
}

describe('SequentialComparison', () => {
  test('wins that do not stop are proven after a dozen; p and interval agree', () => {
    const few = after(Array<number>(5).fill(1))
    expect(few.decision).toBe('continue')
    expect(few.p).toBeGreaterThan(0.05)
    const many = after(Array<number>(14).fill(1))
    expect(many.decision).toBe('higher')
    expect(many.p).toBeLessThanOrEqual(0.05)
    expect(many.interval![0]).toBeGreaterThanOrEqual(0)
    expect(after(Array<number>(14).fill(-1)).decision).toBe('lower')
  })

  test('ties prove nothing about which is better, but in the end that it does not matter', () => {
    const ties = after(Array<number>(400).fill(0), { margin: 0.1 })
    expect(ties).toMatchObject({ decision: 'small', p: 1, mean: 0 })
    expect(after(Array<number>(20).fill(0), { margin: 0.1 }).decision).toBe('continue')
  })

  test('what was proven stays proven', () => {
    const test = new SequentialComparison()
    for (let i = 0; i < 14; i++) test.add(1)
    const proven = test.state()
    for (let i = 0; i < 14; i++) test.add(-1)
    expect(test.state()).toMatchObject({ decision: 'higher', p: proven.p, mean: 0 })
  })

  test('missing results move nothing and are counted; outside the range nothing can be said', () => {
    expect(after([1, null, Number.NaN, 1])).toMatchObject({ n: 2, missing: 2 })
    expect(after([null])).toMatchObject({ n: 0, mean: null, p: null, interval: null, reason: 'no_scores' })
    expect(after([1, 2])).toMatchObject({
      decision: 'invalid',
      p: null,
      interval: null,
      reason: 'out_of_range',
    })
    expect(after([1, 2], { largest: 2 }).decision).toBe('continue')
    expect(after([1], { level: 95 })).toMatchObject({ decision: 'invalid', reason: 'level_out_of_range' })
  })

  test('the interval holds the mean, mirrors, and scales; p lies in (0, 1]', () => {
    const differences = fc.array(fc.constantFrom(-1, -0.5, 0, 0.25, 1), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(differences, (values) => {
        const here = after(values, { level: 0.999 })
        const mirrored = after(
          values.map((value) => -value),
          { level: 0.999 },
        )
        const scaled = after(
          values.map((value) => 4 * value),
          { level: 0.999, largest: 4 },
        )
        expect(here.interval![0]).toBeLessThanOrEqual(here.mean!)
        expect(here.interval![1]).toBeGreaterThanOrEqual(here.mean!)
        expect(mirrored.interval![0]).toBeCloseTo(-here.interval![1], 9)
        expect(scaled.interval![0]).toBeCloseTo(4 * here.interval![0], 9)
        expect(here.p).toBeGreaterThan(0)
        expect(here.p).toBeLessThanOrEqual(1)
        expect(mirrored.p).toBeCloseTo(here.p!, 12)
      }),
      { numRuns: 50 },
    )
  })

  test('ten thousand wins overflow nothing', () => {
    const { e, p, interval } = after(Array<number>(10_000).fill(1))
    expect(Number.isFinite(e)).toBe(true)
    expect(p).toBeGreaterThan(0)
    expect(interval![0]).toBeGreaterThan(0.98)
  })
})

describe('discordantEValue', () => {
  test('is a martingale: its mean after the next fair pair is its value', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), (wins, losses) => {
        const now = discordantEValue(wins, losses)!
        const next = (discordantEValue(wins + 1, losses)! + discordantEValue(wins, losses + 1)!) / 2
        expect(next / now).toBeCloseTo(1, 9)
      }),
    )
    expect(discordantEValue(0, 0)).toBeCloseTo(1, 12)
    expect(discordantEValue(-1, 0)).toBeNull()
  })
})

describe('obrienFleming', () => {
  // Jennison and Turnbull, Group Sequential Methods (2000), table 2.3, two-sided 5 %.
  test.each([
    [1, 1.96],
    [2, 1.977],
    [3, 2.004],
    [4, 2.024],
    [5, 2.04],
  ])('%d looks end at %d', (looks, last) => {
    const found = obrienFleming(looks)!
    expect(found).toHaveLength(looks)
    expect(found.at(-1)?.z).toBeCloseTo(last, 3)
    expect(found[0]!.z).toBeCloseTo(last * Math.sqrt(looks), 2)
  })

  test('looks must rise to the whole', () => {
    expect(obrienFleming([0.5, 0.4, 1])).toBeNull()
    expect(obrienFleming([0.5, 0.9])).toBeNull()
    expect(obrienFleming(0)).toBeNull()
    expect(obrienFleming(2.5)).toBeNull()
    expect(obrienFleming(3, 1)).toBeNull()
  })
})
