import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pairedDifference } from './paired.ts'
import { pairedAgain } from './paired-again.ts'
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

  test('pass or fail without any difference still has an interval that does not collapse', () => {
    const same = scores({ a: 1, b: 0, c: 1, d: 0 })
    const found = pairedDifference(same, same)
    expect(found).toMatchObject({ difference: 0, p: 1, intervalMethod: 'bonett_price', scope: 'new tasks' })
    expect(found.interval![0]).toBeCloseTo(-found.interval![1], 12)
    expect(found.interval![1]).toBeGreaterThan(0.3)
  })

  test('a declared range does the same for graded scores', () => {
    const a = scores({ a: 0.5, b: 0.25, c: 0 })
    expect(pairedDifference(a, a).interval).toBeNull()
    expect(pairedDifference(a, a, { range: [-1, 1] }).interval![1]).toBeGreaterThan(0)
    const shifted = scores({ a: -1, b: -1, c: 1 })
    const { interval } = pairedDifference(shifted, scores({ a: 1, b: 1, c: 1 }), { range: [-1, 1] })
    expect(interval![0]).toBeGreaterThanOrEqual(-2)
  })

  test('repeats are averaged, those missing left out, unequal numbers of them allowed', () => {
    const found = pairedDifference(
      new Map([
        ['x', [1, 0, null, 1]],
        ['y', [1]],
        ['z', [null]],
      ]),
      new Map([
        ['x', [0]],
        ['y', [1, 0]],
        ['z', [1, 1]],
      ]),
    )
    expect(found).toMatchObject({ pairs: 2, higher: 2, dropped: ['z'] })
    expect(found.difference).toBeCloseTo((2 / 3 + 1 / 2) / 2, 12)
  })

  test('groups of tasks that agree widen the interval and raise p', () => {
    const a = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, i < 24 ? 0.8 : 0.1] as const))
    const b = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, 0.3 + (i % 2) / 10] as const))
    const clusters = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, `group ${i >> 3}`] as const))
    const [alone, grouped] = [pairedDifference(a, b), pairedDifference(a, b, { clusters })]
    expect(grouped).toMatchObject({ pairs: 40, clusters: 5, difference: alone.difference })
    expect(grouped.stderr!).toBeGreaterThan(2 * alone.stderr!)
    expect(grouped.p!).toBeGreaterThan(alone.p!)
    const one = new Map([...a.keys()].map((id) => [id, 'all'] as const))
    expect(pairedDifference(a, b, { clusters: one })).toMatchObject({
      interval: null,
      p: null,
      reason: 'single_cluster',
    })
  })

  test('a level that is a percentage is no level', () => {
    const [a, b] = [scores({ a: 1, b: 0 }), scores({ a: 0, b: 0.5 })]
    expect(pairedDifference(a, b, { level: 95 })).toMatchObject({
      interval: null,
      reason: 'level_out_of_range',
    })
  })

  test('graded scores of many tasks: sampled flips with a seed', () => {
    const a = new Map(Array.from({ length: 50 }, (_, i) => [`t${i}`, Math.sin(i)] as const))
    const b = new Map(Array.from({ length: 50 }, (_, i) => [`t${i}`, Math.cos(3 * i)] as const))
    const found = pairedDifference(a, b)
    expect(found.pMethod).toBe('sign_flip_sampled')
    expect(pairedDifference(a, b).p).toBe(found.p)
    expect(pairedDifference(a, b, { draws: 99 }).p! * 100).toBeCloseTo(
      Math.round(pairedDifference(a, b, { draws: 99 }).p! * 100),
      9,
    )
  })
})

describe('pairedAgain', () => {
  const side = (record: Record<string, number[] | number>) => new Map(Object.entries(record))

  test('knows nothing of the spread between tasks', () => {
    const near = pairedAgain(side({ x: [1, 0], y: [1, 0] }), side({ x: [0, 1], y: [1, 0] }))
    const far = pairedAgain(side({ x: [9, 8], y: [1, 0] }), side({ x: [0, 1], y: [1, 0] }))
    expect(far.stderr).toBeCloseTo(near.stderr!, 12)
    expect(near).toMatchObject({ scope: 'these tasks again', pairs: 2, difference: 0 })
  })

  test('says why there is nothing', () => {
    expect(pairedAgain(side({}), side({}))).toMatchObject({ difference: null, reason: 'no_pairs' })
    expect(pairedAgain(side({ x: 1 }), side({ x: [1, 0] }))).toMatchObject({ reason: 'single_repeats' })
    expect(pairedAgain(side({ x: [1, 1] }), side({ x: [0, 0] }))).toMatchObject({
      difference: 1,
      interval: null,
      reason: 'no_spread',
    })
    expect(pairedAgain(side({ x: [1, 0] }), side({ x: [0, 1] }), 95)).toMatchObject({
      reason: 'level_out_of_range',
    })
  })
})
