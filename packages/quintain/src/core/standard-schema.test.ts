import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonSchemaOf, type Schema, validate } from './standard-schema.ts'

/** What a library does that gives its issues paths of `{ key }` objects, as valibot does, and has no JSON Schema. */
function madeByHand<T>(
  check: (value: unknown) => StandardSchemaV1.Result<T> | Promise<StandardSchemaV1.Result<T>>,
): Schema<T> {
  return { '~standard': { version: 1, vendor: 'by-hand', validate: check } }
}

describe('validate', () => {
  test('with zod gives the value with defaults, or every issue with its path', async () => {
    const schema = z.object({
      customer: z.object({ name: z.string(), tags: z.array(z.int()) }),
      n: z.int().default(3),
    })
    expect(await validate(schema, { customer: { name: 'a', tags: [] } })).toEqual({
      value: { customer: { name: 'a', tags: [] }, n: 3 },
    })
    const { issues } = await validate(schema, { customer: { name: 1, tags: [1, 'x'] } })
    expect(issues?.map(({ path }) => path)).toEqual(['customer.name', 'customer.tags.1'])
    expect((await validate(schema, null)).issues?.[0]).toMatchObject({
      path: '',
      message: expect.any(String),
    })
  })

  test('with any Standard Schema, asynchronous or not', async () => {
    const positive = madeByHand<number>((value) =>
      typeof value === 'number' && value > 0 ? { value } : { issues: [{ message: 'must be positive' }] },
    )
    expect(await validate(positive, 2)).toEqual({ value: 2 })
    expect(await validate(positive, -2)).toEqual({ issues: [{ path: '', message: 'must be positive' }] })
    const later = madeByHand<string>(async (value) => ({ value: String(value) }))
    expect(await validate(later, 2)).toEqual({ value: '2' })
  })

  test('reads paths of keys and of segments', async () => {
    const symbol = Symbol('s')
    const broken = madeByHand<never>(() => ({
      issues: [{ message: 'm', path: [{ key: 'a' }, 0, { key: 1 }, 'b', symbol] }],
    }))
    expect((await validate(broken, 0)).issues?.[0]?.path).toBe('a.0.1.b.Symbol(s)')
  })

  test('a schema that throws is an issue that does not tell what it threw', async () => {
    for (const schema of [
      z.string().refine(() => {
        throw new TypeError('the gold is quokka')
      }),
      madeByHand(() => Promise.reject(new TypeError('the gold is quokka'))),
    ]) {
      expect(await validate(schema, 'x')).toEqual({
        issues: [{ path: '', message: 'the schema threw a TypeError on this value' }],
      })
    }
  })
})

describe('jsonSchemaOf', () => {
  test('of zod is what models are told of the input', () => {
    const schema = jsonSchemaOf(z.object({ n: z.int().default(3), to: z.enum(['a', 'b']) }))
    expect(schema).toMatchObject({
      type: 'object',
      properties: { n: { type: 'integer', default: 3 }, to: { enum: ['a', 'b'] } },
      required: ['to'],
    })
  })

  test('of a library without JSON Schema is undefined', () => {
    expect(jsonSchemaOf(madeByHand(() => ({ value: 1 })))).toBeUndefined()
  })

  test('of a schema that has no JSON form says what to do', () => {
    expect(() => jsonSchemaOf(z.object({ when: z.date() }))).toThrow(
      expect.objectContaining({
        code: 'schema_unsupported',
        message: expect.stringContaining('{ schema, jsonSchema }'),
      }),
    )
  })
})
