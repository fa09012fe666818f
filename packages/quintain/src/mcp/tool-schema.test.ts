import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInputSchema } from './tool-schema.ts'

const object = { type: 'object' }
const nested = (depth: number) =>
  Array.from({ length: depth }).reduce<unknown>((inner) => ({ inside: inner }), 1)

test.each<[string, unknown, object]>([
  ['none', undefined, object],
  ['one that accepts everything', true, object],
  ['one without a type', { properties: { a: {} } }, { ...object, properties: { a: {} } }],
  ['a type among others', { type: ['object', 'null'] }, object],
  [
    'a reference at the root',
    { $ref: '#/$defs/A', $defs: { A: { ...object, required: ['a'] } } },
    {
      ...object,
      required: ['a'],
      $defs: { A: { ...object, required: ['a'] } },
    },
  ],
  [
    'a reference inside',
    { ...object, properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } },
    {
      ...object,
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string' } },
    },
  ],
  [
    'a reference to itself',
    { ...object, properties: { child: { $ref: '#' } } },
    {
      ...object,
      properties: { child: { $ref: '#' } },
    },
  ],
  [
    'a reference to elsewhere',
    { ...object, properties: { a: { $ref: 'https://schemas.invalid/a' } } },
    {
      ...object,
      properties: { a: {} },
    },
  ],
  [
    'a reference to nothing',
    { ...object, properties: { a: { $ref: '#/$defs/none' } } },
    {
      ...object,
      properties: { a: {} },
    },
  ],
  [
    'data that looks like a reference',
    { ...object, properties: { a: { default: { $ref: 'x' } } } },
    {
      ...object,
      properties: { a: { default: { $ref: 'x' } } },
    },
  ],
  [
    'a property named $ref',
    { ...object, properties: { $ref: { type: 'string' } } },
    {
      ...object,
      properties: { $ref: { type: 'string' } },
    },
  ],
  ['a dialect', { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', ...object }, object],
])('%s becomes an object', (_what, raw, schema) => {
  expect(readInputSchema(raw).schema).toEqual(schema)
})

test.each<[string, unknown]>([
  ['a text', { type: 'string' }],
  ['an array', []],
  ['a number', 5],
  ['false', false],
  ['a reference in a circle', { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } }],
  ['a reference at the root to elsewhere', { $ref: 'https://schemas.invalid/a' }],
  [
    'one that is too deep',
    Array.from({ length: 200 }).reduce<object>((inner) => ({ ...object, not: inner }), {}),
  ],
  ['a default that is too deep', { ...object, default: nested(200) }],
  ['a type that is too deep', { type: nested(500) }],
  ['one that is too long', { ...object, description: 'x'.repeat(2_000_000) }],
  ['one of too many values', { ...object, enum: Array.from({ length: 30_000 }, (_, i) => i) }],
])('%s is a problem', (_what, raw) => {
  expect(readInputSchema(raw)).toEqual({ problem: expect.stringContaining('schema') })
})

test('whatever a server sends is read without an exception', () => {
  fc.assert(
    fc.property(fc.anything(), (raw) => {
      const { schema, problem } = readInputSchema(raw)
      expect((schema?.['type'] === 'object') === (problem === undefined)).toBe(true)
    }),
  )
})
