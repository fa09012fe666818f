import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pairedDifference } from './paired.ts'
import { signFlipTest } from './sign-flip-test.ts'
import { signTest } from './sign-test.ts'

describe('signTest', () => {
  test.each([
    [6, 0, 0.03125],
    [8, 1, 0.0390625],
    [10, 2, 0.03857421875],
    [12, 3, 0.03515625],
    [15, 5, 0.04138946533203125],
    [300, 240, 0.011050481081929898],
    [4, 4, 1],
    [0, 0, 1],
  ])('%d to %d', (b, c, p) => {
    expect(signTest(b, c)).toBeCloseTo(p, 9)
    expect(signTest(c, b)).toBeCloseTo(p, 9)
  })

  test('needs counts', () => {
    expect(signTest(1.5, 2)).toBeNull()
    expect(signTest(-1, 2)).toBeNull()
  })
})

describe('signFlipTest', () => {
  test('of plain wins and losses it is the sign test', () => {
    fc.assert(
      fc.property(fc.nat(7), fc.nat(7), (b, c) => {
        const differences = [...Array<number>(b).fill(1), ...Array<number>(c).fill(-1), 0, 0]
        expect(signFlipTest(differences)).toBeCloseTo(signTest(b, c)!, 9)
      }),
    )
  })

  test('does not care about scale or direction', () => {
    const differences = [0.5, 0.25, -0.1, 0.7, 0.05]
    expect(signFlipTest(differences.map((value) => -3 * value))).toBe(signFlipTest(differences))
  })

  test('declines what it cannot enumerate', () => {
    expect(signFlipTest(Array<number>(21).fill(1))).toBeNull()
    expect(signFlipTest([])).toBe(1)
  })
})

describe('pairedDifference', () => {
  const scores = (record: Record<string, number | null>) => new Map(Object.entries(record))

  test('pairs by id and names what has no partner', () => {
    const found = pairedDifference(scores({ 1: 1, 2: 0, 3: 1, 4: 1 }), scores({ 2: 0, 3: 0, 4: 1, 5: 1 }))
    expect(found).toMatchObject({ pairs: 3, higher: 1, equal: 2, lower: 0, dropped: ['1', '5'] })
    expect(found.difference).toBeCloseTo(1 / 3, 12)
  })

  test('a missing score drops the pair instead of counting as zero', () => {
    expect(pairedDifference(scores({ a: 1, b: 1 }), scores({ a: null, b: 1 }))).toMatchObject({
      pairs: 1,
      dropped: ['a'],
      interval: null,
      reason: 'single_pair',
    })
    expect(pairedDifference(scores({}), scores({}))).toMatchObject({ difference: null, reason: 'no_pairs' })
  })

  test('equal runs differ by nothing, with p = 1 and no interval that claims certainty', () => {
    const same = scores({ a: 1, b: 0, c: 0.5 })
    expect(pairedDifference(same, same)).toMatchObject({
      difference: 0,
      interval: null,
      p: 1,
      reason: 'no_spread',
    })
  })

  test('swapping the sides turns the sign and nothing else', () => {
    const side = fc.dictionary(fc.constantFrom(...'abcdefghijkl'), fc.constantFrom(0, 0.25, 0.5, 1))
    fc.assert(
      fc.property(side, side, (left, right) => {
        const there = pairedDifference(scores(left), scores(right))
        const back = pairedDifference(scores(right), scores(left))
        expect(back.pairs).toBe(there.pairs)
        expect(back.higher).toBe(there.lower)
        expect(back.dropped.toSorted()).toEqual(there.dropped.toSorted())
        if (there.p === null) expect(back.p).toBeNull()
        else expect(back.p).toBeCloseTo(there.p, 9)
        if (there.difference !== null) expect(back.difference).toBeCloseTo(-there.difference, 12)
        if (there.interval) expect(back.interval?.[0]).toBeCloseTo(-there.interval[1], 9)
      }),
    )
  })

  test('above twenty differing pairs p is still exact where the differences are fractions', () => {
    const a = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, i % 4 === 0 ? 0 : 1] as const))
    const b = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, i % 4 === 0 ? 1 : 0] as const))
    const found = pairedDifference(a, b)
    expect(found.pMethod).toBe('sign_flip_exact')
    expect(found.p).toBeCloseTo(signTest(30, 10)!, 12)
  })
})
