import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { didYouMean, editDistance, nearest } from './suggest.ts'

describe('editDistance', () => {
  test.each([
    ['', '', 0],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['repeats', 'repaets', 1],
    ['ab', 'ba', 1],
    // Optimal string alignment edits no part twice; the unrestricted distance would be 2.
    ['ca', 'abc', 3],
  ])('of %j and %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
  })

  test('is what the definition says', () => {
    /** The recurrence as it is written down, without a table. */
    const defined = (a: string, b: string): number => {
      if (a === '' || b === '') return a.length + b.length
      const cost = a.at(-1) === b.at(-1) ? 0 : 1
      const swapped = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1)
      return Math.min(
        defined(a.slice(0, -1), b) + 1,
        defined(a, b.slice(0, -1)) + 1,
        defined(a.slice(0, -1), b.slice(0, -1)) + cost,
        swapped ? defined(a.slice(0, -2), b.slice(0, -2)) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(defined(a, b))
      }),
    )
  })

  test('is symmetric and zero only for equal words', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a))
        expect(editDistance(a, b) === 0).toBe(a === b)
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })
})

describe('nearest', () => {
  const known = ['turns', 'tokens', 'costUsd', 'wall', 'tool', 'grade', 'n']
  test.each([
    ['turn', 'turns'],
    ['trns', 'turns'],
    ['TOKENS', 'tokens'],
    ['cost_usd', 'costUsd'],
    ['walls', 'wall'],
    ['tol', 'tool'],
    ['N', 'n'],
    ['something', undefined],
    ['', undefined],
    // A letter in place of a letter is not a slip of it but another name.
    ['k', undefined],
    ['xy', undefined],
  ])('of %j is %j', (name, expected) => {
    expect(nearest(name, known)).toBe(expected)
  })

  test('of equals is the first, and of itself is itself', () => {
    expect(nearest('bat', ['cat', 'hat'])).toBe('cat')
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]+$/), { minLength: 1 }), (names) => {
        expect(nearest(names.at(-1)!, names)).toBe(names.at(-1))
      }),
    )
  })

  test('reads as the end of a sentence', () => {
    expect(didYouMean('turn', known)).toBe(', did you mean "turns"?')
    expect(didYouMean('something', known)).toBe('.')
    expect(didYouMean('turn', [])).toBe('.')
  })
})
