import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutNaN } from './python-json.ts'

test('what Python writes for no number is null, and strings keep it', () => {
  const text = '{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \\" Infinity", "NaN": 1}'
  expect(JSON.parse(withoutNaN(text))).toEqual({ a: null, b: [null, null], c: 'NaN " Infinity', NaN: 1 })
})

test('JSON stays as it is, and every number that is none becomes null', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(withoutNaN(text)).toBe(text)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.double())), (values) => {
      // As Python writes it.
      const text = `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : `${value}`)).join(', ')}]`
      const expected = values.map((value) =>
        typeof value === 'string' || Number.isFinite(value) ? value : null,
      )
      expect(JSON.parse(withoutNaN(text))).toEqual(
        expected.map((value) => (Object.is(value, -0) ? 0 : value)),
      )
    }),
  )
})

test('a text that never closes takes one pass', () => {
  const hostile = `"${'\\"'.repeat(1_000_000)}`
  const start = performance.now()
  expect(withoutNaN(hostile)).toBe(hostile)
  expect(performance.now() - start).toBeLessThan(2000)
})
