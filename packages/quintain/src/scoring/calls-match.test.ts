import { describe, expect, test } from 'vitest'
import { type AllowedCall, callAllowed, callsMatchUnordered, pairCalls } from './calls-match.ts'

const schemas = {
  book: { seats: { type: 'integer', default: 1 }, price: { type: 'float' }, tags: { type: 'string[]' } },
}
const wanted: AllowedCall = { name: 'book', arguments: { price: [10, 12], tags: [['a'], null] } }
const book = (args: Record<string, unknown>) => ({ name: 'book', arguments: args })

describe('calls with schemas', () => {
  test.each([
    ['a whole number is a float', { price: 10 }, true],
    ['an alternative', { price: 12, tags: ['a'] }, true],
    ['a text is no number', { price: '10' }, false],
    ['no alternative', { price: 11 }, false],
    ['null is not left out', { price: 10, tags: null }, false],
    ['a default that is given', { price: 10, seats: 1 }, true],
    ['another value than the default', { price: 10, seats: 2 }, false],
    ['a default of another type', { price: 10, seats: true }, false],
    ['an argument that nobody knows', { price: 10, extra: 1 }, false],
    ['a needed one is missing', { tags: ['a'] }, false],
    ['an argument that is undefined', { price: 10, extra: undefined }, true],
  ])('%s', (_what, args, allowed) => {
    expect(callAllowed(wanted, book(args), { schemas })).toBe(allowed)
  })

  test('a wanted value that is the default may be left out', () => {
    const seats = (...values: unknown[]): AllowedCall => ({ name: 'book', arguments: { seats: values } })
    expect(callAllowed(seats(1), book({}), { schemas })).toBe(true)
    expect(callAllowed(seats(2), book({}), { schemas })).toBe(false)
    expect(callAllowed(seats(1), book({}))).toBe(false)
  })

  test('names that all objects have are names as any', () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      const allowed = { name: 'book', arguments: JSON.parse(`{"${name}":[1]}`) }
      expect(callAllowed(allowed, book({}), { schemas })).toBe(false)
      expect(callAllowed(allowed, book(JSON.parse(`{"${name}":1}`)), { schemas })).toBe(true)
      expect(callAllowed(wanted, { name, arguments: {} }, { schemas })).toBe(false)
    }
  })

  test('types take part in the pairing', () => {
    const any = { name: 'book', arguments: { price: [10, '10'] } }
    const one = { name: 'book', arguments: { price: [10] } }
    const made = [book({ price: 10 }), book({ price: '10' })]
    expect(callsMatchUnordered([any, one], made)).toBe(true)
    expect(pairCalls([any, one], made)).toEqual([1, 0])
    expect(callsMatchUnordered([any, one], made, { schemas })).toBe(false)
  })

  test('arguments as deep as a model likes are no match and no error', () => {
    const deep = JSON.parse(`{"price":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
    expect(callAllowed(wanted, book(deep), { schemas })).toBe(false)
    expect(callAllowed(wanted, book(deep))).toBe(false)
  })
})
