import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJsonText } from './json-text.ts'

test('any JSON without integers beyond 2^53 is read as JSON.parse reads it, and says no name twice', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!/\d{16}|e\+?\d{3}/i.test(text))
      expect(readJsonText(text)).toMatchObject({ ok: true, value: JSON.parse(text), twice: [] })
    }),
  )
})

test('any text is read or refused, and never thrown at', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readJsonText(text)))
  expect(readJsonText('['.repeat(100_000)).ok).toBe(false)
})

test('names that stand twice are told, however they are escaped', () => {
  expect(readJsonText('{"a":{"b":1,"\\u0062":2},"x":"a"}')).toMatchObject({ twice: ['b'] })
})

test('integers beyond 2^53 keep their digits, and no other number does', () => {
  const reading = readJsonText('{"id":[9007199254740993],"n":1e300,"s":"9007199254740993"}')
  expect(reading).toMatchObject({
    value: { id: ['9007199254740993'], n: 1e300, s: '9007199254740993' },
    huge: [{ path: 'id[0]', digits: '9007199254740993' }],
  })
})

test('a number that overflows stays what the file says, where JSON would write it as null', () => {
  const reading = readJsonText('{"answer":1e400,"low":-2.5E+0309,"n":1e-400}')
  expect(reading).toMatchObject({
    value: { answer: '1e400', low: '-2.5E+0309', n: 0 },
    huge: [{ path: 'answer', digits: '1e400' }, { path: 'low' }],
  })
})
