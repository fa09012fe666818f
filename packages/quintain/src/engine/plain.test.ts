import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { isPlainData } from './plain.ts'

it('is plain data whatever JSON holds', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      expect(isPlainData(value)).toBe(true)
    }),
  )
})

const cyclic: unknown[] = []
cyclic.push({ cyclic })

test.for<[string, unknown]>([
  ['a function', () => {}],
  ['a function deep inside', { a: [{ b() {} }] }],
  ['a symbol', [Symbol('s')]],
  ['an instance of a class', { at: new Date() }],
  ['a map', new Map()],
  ['a proxy, which no channel carries', { a: new Proxy({}, {}) }],
  ['something without an end', cyclic],
])('is none: %s', ([, value]) => {
  expect(isPlainData(value)).toBe(false)
})
