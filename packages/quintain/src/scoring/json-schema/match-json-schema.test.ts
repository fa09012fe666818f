import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchJsonSchema } from './match-json-schema.ts'

const order = {
  type: 'object',
  required: ['id', 'items'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1 },
    items: { type: 'array', items: { $ref: '#/$defs/item' }, minItems: 1 },
  },
  $defs: { item: { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } } },
}

describe('matchJsonSchema', () => {
  test('says whether a text or a value fits, and what is wrong where', () => {
    expect(matchJsonSchema(order, { text: '{"id": 1, "items": [{"name": "pen"}]}' })).toEqual({
      fits: true,
      problems: [],
    })
    const { fits, problems } = matchJsonSchema(order, {
      value: { id: 0, items: [{ name: 'pen' }, { name: 'PEN' }], extra: 1 },
    })
    expect(fits).toBe(false)
    expect(problems.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual(
      expect.arrayContaining(['/id minimum', '/items/1/name pattern', '/extra false']),
    )
  })

  test('reads the draft that the schema names', () => {
    const tuple = { items: [{ type: 'string' }], additionalItems: false }
    expect(
      matchJsonSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple }, { value: ['a', 1] })
        .fits,
    ).toBe(false)
    const modern = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      prefixItems: [{ type: 'string' }],
      items: false,
    }
    expect(matchJsonSchema(modern, { value: ['a'] }).fits).toBe(true)
    expect(matchJsonSchema(modern, { value: ['a', 1] }).fits).toBe(false)
    expect(
      matchJsonSchema({ unevaluatedProperties: false, properties: { a: {} } }, { value: { b: 1 } }).fits,
    ).toBe(false)
  })

  test.each([
    ['not JSON', '{"id": 1'],
    ['words around it', 'Here: {"id": 1}'],
    ['a key twice', '{"id": 1, "\\u0069d": 2}'],
    ['nesting without end', '['.repeat(1_000_000)],
    ['nesting that ends', '['.repeat(200_000) + ']'.repeat(200_000)],
  ])('a text with %s does not fit', (_, text) => {
    const { fits, problems } = matchJsonSchema({}, { text })
    expect(fits).toBe(false)
    expect(problems[0]?.keyword).toBe('json')
  })

  test('the same key in two objects is no key twice, nor is one in a text', () => {
    expect(matchJsonSchema({}, { text: '[{"a":{"a":1},"b":"\\"a\\":"},{"a":[-1.5e+3,{"a":2}]}]' }).fits).toBe(
      true,
    )
  })

  test('takes no integer for another that one double stands for', () => {
    const text = '{"id": 12345678901234567891}'
    expect(matchJsonSchema({ properties: { id: { const: 12345678901234567000 } } }, { text }).fits).toBe(
      false,
    )
    expect(matchJsonSchema({ properties: { id: { type: 'integer' } } }, { text }).fits).toBe(true)
    expect(
      matchJsonSchema({ properties: { id: { maximum: 1e19 } } }, { text: '{"id": 9007199254740992}' }).fits,
    ).toBe(true)
  })

  test.each([
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['a type that is none', { properties: { a: { type: 'strng' } } }],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }],
    ['a dynamic reference', { $dynamicRef: '#node' }],
  ])('%s makes it no schema, before any value reaches it', (_, schema) => {
    expect(matchJsonSchema(schema, { value: 1 })).toMatchObject({ fits: null, error: 'invalid_schema' })
  })

  test('ends in time, whatever the pattern, the reference or the depth', () => {
    const slow = { type: 'string', pattern: '^(a+)+$' }
    expect(matchJsonSchema(slow, { value: `${'a'.repeat(50)}!` }, { ms: 50 })).toMatchObject({
      fits: null,
      error: 'deadline',
    })
    expect(matchJsonSchema({ $ref: '#' }, { value: 1 })).toMatchObject({ fits: null, error: 'too_deep' })
    let deep: Record<string, unknown> = {}
    for (let i = 0; i < 100_000; i++) deep = { not: deep }
    expect(matchJsonSchema(deep, { value: 1 }).fits).toBeNull()
    const tree = {
      anyOf: [
        { items: { $ref: '#' }, type: 'array' },
        { items: { $ref: '#' }, type: 'array', maxItems: 0 },
      ],
    }
    let nested: unknown = 1
    for (let i = 0; i < 60; i++) nested = [nested]
    expect(matchJsonSchema(tree, { value: nested }, { ms: 50 }).fits).toBeNull()
  })

  test('leaves the schema as it was, and finds a recursive one', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ next: Object.freeze({ $ref: '#' }) }),
    })
    expect(matchJsonSchema(schema, { value: { next: { next: {} } } }).fits).toBe(true)
    expect(matchJsonSchema(schema, { value: { next: { next: 1 } } }).fits).toBe(false)
  })

  test('gives at most a hundred problems', () => {
    const value = Array.from({ length: 50_000 }, () => 'x')
    const { problems } = matchJsonSchema({ items: { type: 'number' } }, { value })
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThanOrEqual(100)
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'type',
            '$ref',
            'items',
            'const',
            'pattern',
            'properties',
            '$id',
            'allOf',
            'required',
            'format',
          ),
          fc.jsonValue(),
        ),
        fc.string(),
        (schema, text) => {
          expect([true, false, null]).toContain(matchJsonSchema(schema, { text }).fits)
          expect([true, false, null]).toContain(matchJsonSchema(schema, { value: text }).fits)
        },
      ),
    )
  })
})
