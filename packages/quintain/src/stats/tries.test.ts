import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { overTasks } from './over-tasks.ts'
import { passAtK } from './pass-at-k.ts'
import { passHatK } from './pass-hat-k.ts'

/** All k-subsets of n tries, counted one by one. */
function byEnumeration(n: number, c: number, k: number) {
  let subsets = 0
  let any = 0
  let all = 0
  for (let bits = 0; bits < 1 << n; bits++) {
    let size = 0
    let hits = 0
    for (let i = 0; i < n; i++) {
      if ((bits >> i) & 1) {
        size++
        if (i < c) hits++
      }
    }
    if (size !== k) continue
    subsets++
    if (hits > 0) any++
    if (hits === k) all++
  }
  return { any: any / subsets, all: all / subsets }
}

describe('pass@k and pass^k', () => {
  test('equal what counting all subsets gives', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.nat(10), fc.integer({ min: 1, max: 10 }), (n, c, k) => {
        fc.pre(c <= n && k <= n)
        const exact = byEnumeration(n, c, k)
        expect(passAtK(n, c, k).value).toBeCloseTo(exact.any, 10)
        expect(passHatK(n, c, k).value).toBeCloseTo(exact.all, 10)
      }),
      { numRuns: 60 },
    )
  })

  test('the published example: 8 tries, 4 right, k = 4', () => {
    expect(passAtK(8, 4, 4).value).toBeCloseTo(0.986, 3)
    expect(passHatK(8, 4, 4).value).toBeCloseTo(0.014, 3)
  })

  test('more draws than tries is undefined, not 0 and not 1', () => {
    expect(passHatK(3, 3, 4)).toEqual({ value: null, reason: 'k_exceeds_n' })
    expect(passAtK(3, 3, 4)).toEqual({ value: null, reason: 'k_exceeds_n' })
  })

  test.each([
    [3, 4, 1],
    [3, -1, 1],
    [3, 1, 0],
    [2.5, 1, 1],
    [Number.NaN, 1, 1],
  ])('n=%d c=%d k=%d are no counts', (n, c, k) => {
    expect(passAtK(n, c, k)).toEqual({ value: null, reason: 'not_counts' })
    expect(passHatK(n, c, k)).toEqual({ value: null, reason: 'not_counts' })
  })

  test('over tasks: one task without enough trials makes the whole undefined, by name', () => {
    expect(overTasks(passHatK, { a: [1, 1, 1], b: [1] }, 2)).toEqual({
      value: null,
      tasks: 2,
      tasksWithoutEnoughTrials: ['b'],
    })
    expect(overTasks(passHatK, { a: [1, 1, 0], b: [1, 1, 1] }, 2).value).toBeCloseTo((1 / 3 + 1) / 2, 12)
    expect(overTasks(passHatK, { a: [1, null, 1], b: [1, 1, 1] }, 3).tasksWithoutEnoughTrials).toEqual(['a'])
    expect(overTasks(passHatK, { a: [1, null, 1] }, 2).value).toBe(1)
    expect(overTasks(passAtK, {}, 2)).toEqual({ value: null, tasks: 0, tasksWithoutEnoughTrials: [] })
  })
})
