import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng, type Rng } from './rng.ts'

const take = (rng: Rng, count: number): number[] => Array.from({ length: count }, () => rng.int(1_000_000))

describe('sequences', () => {
  test('are the same on every machine and in every version', () => {
    const rng = createRng('quintain')
    expect(Array.from({ length: 4 }, () => rng.next())).toMatchInlineSnapshot(`
      [
        0.9123634435236454,
        0.5731492349877954,
        0.6043707556091249,
        0.44969359948299825,
      ]
    `)
    expect(take(createRng(0), 3)).toMatchInlineSnapshot(`
      [
        825363,
        755627,
        792777,
      ]
    `)
    expect(take(createRng('quintain').fork('a'), 3)).toMatchInlineSnapshot(`
      [
        564186,
        495711,
        109624,
      ]
    `)
    expect(createRng('deck').shuffle([1, 2, 3, 4, 5, 6, 7, 8])).toMatchInlineSnapshot(`
      [
        3,
        6,
        5,
        1,
        8,
        7,
        4,
        2,
      ]
    `)
  })

  test('are equal for equal seeds and differ for others', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(take(createRng(a), 5)).toEqual(take(createRng(a), 5))
        if (a !== b) expect(take(createRng(a), 5)).not.toEqual(take(createRng(b), 5))
      }),
    )
    expect(take(createRng(7), 5)).toEqual(take(createRng('7'), 5))
  })

  test('of a hundred thousand seeds are a hundred thousand', () => {
    const firsts = new Set<string>()
    for (let seed = 0; seed < 100_000; seed++) {
      const rng = createRng(`task/${seed}`)
      firsts.add(`${rng.next()} ${rng.next()}`)
    }
    expect(firsts.size).toBe(100_000)
  })
})

describe('fork', () => {
  test('does not move the one it came from, and does not depend on where that stands', () => {
    const rng = createRng('x')
    const early = take(rng.fork('child'), 5)
    const rest = take(rng, 5)
    expect(rest).toEqual(take(createRng('x'), 5))
    expect(take(rng.fork('child'), 5)).toEqual(early)
  })

  test('by different paths are different generators', () => {
    const root = createRng('x')
    const paths = [
      root,
      root.fork('a'),
      root.fork('b'),
      root.fork('a').fork('b'),
      root.fork('a/b'),
      root.fork('b').fork('a'),
      root.fork(''),
      root.fork('').fork(''),
      createRng('x/a'),
      createRng('fork:x:a'),
    ]
    expect(new Set(paths.map((rng) => take(rng, 4).join())).size).toBe(paths.length)
  })

  test('siblings do not move together', () => {
    const [a, b] = [createRng('x').fork(1), createRng('x').fork(2)]
    const pairs = Array.from({ length: 20_000 }, () => [a!.next() - 0.5, b!.next() - 0.5] as const)
    const covariance = pairs.reduce((sum, [x, y]) => sum + x * y, 0) / pairs.length
    // Four standard errors of the product of two uniform deviates.
    expect(Math.abs(covariance * 12)).toBeLessThan(4 / Math.sqrt(pairs.length))
  })
})

describe('draws', () => {
  test('next() is in [0, 1) and even', () => {
    const rng = createRng('even')
    const bins = new Array<number>(10).fill(0)
    for (let i = 0; i < 100_000; i++) {
      const value = rng.next()
      expect(value >= 0 && value < 1).toBe(true)
      bins[Math.floor(value * 10)]!++
    }
    // Chi-squared with 9 degrees of freedom passes 27.9 once in a thousand seeds; this seed is fixed.
    expect(bins.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0)).toBeLessThan(27.9)
  })

  test.each([2, 3, 6, 7, 1_000])('int(%i) has every value equally often', (bound) => {
    const rng = createRng(`int ${bound}`)
    const counts = new Array<number>(bound).fill(0)
    const each = 500
    for (let i = 0; i < bound * each; i++) counts[rng.int(bound)]!++
    const chi = counts.reduce((sum, count) => sum + (count - each) ** 2 / each, 0)
    expect(chi).toBeLessThan(bound - 1 + 4 * Math.sqrt(2 * bound))
  })

  test('int() of a bound that does not divide 2^32 prefers no half', () => {
    // With a plain remainder the lower half would come up two times in three.
    const bound = 3 * 2 ** 30
    const rng = createRng('large')
    let low = 0
    for (let i = 0; i < 30_000; i++) if (rng.int(bound) < bound / 3) low++
    expect(Math.abs(low - 10_000)).toBeLessThan(400)
  })

  test('int() stays below its bound, and refuses what is none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 - 1 }), fc.string(), (bound, seed) => {
        const value = createRng(seed).int(bound)
        expect(Number.isInteger(value) && value >= 0 && value < bound).toBe(true)
      }),
    )
    expect(createRng(1).int(1)).toBe(0)
    expect(createRng(1).int(2 ** 32)).toBeGreaterThanOrEqual(0)
    for (const bound of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32 + 1]) {
      expect(() => createRng(1).int(bound)).toThrow(RangeError)
    }
  })

  test('pick() gives one of the list, and refuses an empty one', () => {
    const rng = createRng('pick')
    expect(new Set(Array.from({ length: 100 }, () => rng.pick(['a', 'b', 'c'])))).toEqual(
      new Set(['a', 'b', 'c']),
    )
    expect(() => rng.pick([])).toThrow(RangeError)
  })

  test('shuffle() loses nothing, leaves the list alone, and has every order equally often', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.string(), (items, seed) => {
        const copy = items.slice()
        const shuffled = createRng(seed).shuffle(items)
        expect(items).toEqual(copy)
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(copy.toSorted((a, b) => a - b))
      }),
    )
    const rng = createRng('orders')
    const counts = new Map<string, number>()
    for (let i = 0; i < 6_000; i++) {
      const key = rng.shuffle(['a', 'b', 'c']).join('')
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    expect(counts.size).toBe(6)
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })
})
