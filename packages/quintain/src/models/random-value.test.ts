import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRng } from '../core/rng.ts'
import { randomValue } from './random-value.ts'

const tree: z.ZodType = z.lazy(() => z.object({ value: z.number(), children: z.array(tree).max(2) }))

const schemas: Record<string, z.ZodType> = {
  integer: z.number().int().min(-3).max(4),
  exclusive: z.number().int().gt(0).lt(3),
  multiple: z.number().multipleOf(5).min(3).max(21),
  number: z.number().gt(0).max(0.5),
  text: z.string().min(3).max(5),
  pattern: z.string().regex(/^[a-z]{5}$/),
  choice: z.enum(['a', 'b']),
  union: z.union([z.string().length(2), z.number().int().min(1).max(2), z.null()]),
  discriminated: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('go'), to: z.enum(['n', 's']) }),
    z.object({ kind: z.literal('wait'), turns: z.number().int().min(1).max(9) }),
  ]),
  intersection: z.intersection(z.object({ a: z.boolean() }), z.object({ b: z.boolean() })),
  nested: z.object({
    list: z
      .array(z.object({ id: z.uuid(), on: z.iso.date() }))
      .min(1)
      .max(3),
    note: z.string().optional(),
  }),
  tuple: z.tuple([z.boolean(), z.number()]),
  record: z.record(z.string(), z.number()),
  recursive: tree,
}

test.each(Object.keys(schemas))('values of a schema (%s) pass that schema', (name) => {
  const schema = schemas[name]!
  const jsonSchema = z.toJSONSchema(schema)
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const value = randomValue(jsonSchema, createRng(seed))
      expect(schema.safeParse(value).error?.issues ?? []).toEqual([])
    }),
  )
})

test('a schema that is nonsense gives something and does not throw', () => {
  fc.assert(
    fc.property(fc.object(), (schema) => {
      randomValue(schema, createRng(1))
    }),
  )
})
