import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SeenValues } from './infer-schema.ts'

function schemaOf(...values: unknown[]) {
  const seen = new SeenValues()
  for (const value of values) seen.add(value)
  return seen.schema()
}

test('types, lists, and which properties were always there', () => {
  expect(schemaOf({ id: 'a', n: 1, tags: ['x'] }, { id: 'b', n: 2.5, more: { deep: null } })).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string' },
      n: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
      more: { type: 'object', properties: { deep: { type: 'null' } }, required: ['deep'] },
    },
    required: ['id', 'n'],
  })
  expect(schemaOf('a', 1, null)).toEqual({ type: ['integer', 'null', 'string'] })
  expect(schemaOf([])).toEqual({ type: 'array' })
  expect(schemaOf()).toEqual({})
})

test('names without end are data and are not listed; depth has an end', () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key-${i}`, i]))
  expect(schemaOf(many)).toEqual({ type: 'object' })
  let deep: unknown = 1
  for (let i = 0; i < 50; i++) deep = { deep }
  expect(JSON.stringify(schemaOf(deep)).length).toBeLessThan(1_000)
})

test('a name that JavaScript takes for another thing', () => {
  const schema = schemaOf(JSON.parse('{"__proto__": 1, "constructor": "x"}'))
  expect(Object.keys(schema['properties'] as object).sort()).toEqual(['__proto__', 'constructor'])
})

test('every value fits the schema that was made of it and others', () => {
  // Keys that a validator itself stumbles over are another test.
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(name, value, { maxKeys: 3 }), { minLength: 1, maxLength: 5 }),
      (values) => {
        const schema = z.fromJSONSchema(schemaOf(...values) as Parameters<typeof z.fromJSONSchema>[0])
        for (const one of values)
          expect(schema.safeParse(JSON.parse(JSON.stringify(one))).error).toBeUndefined()
      },
    ),
  )
})
