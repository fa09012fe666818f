import { expect, test } from 'vitest'
import { checkJsonSchema, standardSchemaOf } from './schema-check.ts'

const object = { type: 'object' }
const wrong = (problem: string) => ({ kind: 'wrong', problem: expect.stringContaining(problem) })

/** Each of 30 definitions asks for the next one twice: two to the power of 30 checks of one number. */
const doubling = {
  ...object,
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 31 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, i === 30 ? { type: 'string' } : { allOf: [next, next] }]
    }),
  ),
}

test('arguments are checked; a schema that cannot be compiled accepts everything', async () => {
  const schema = { ...object, properties: { a: { type: 'number' } }, required: ['a'] }
  expect(await checkJsonSchema(schema, { a: 1 })).toEqual({ kind: 'fits' })
  expect(await checkJsonSchema(schema, { a: 'one' })).toEqual(wrong('must be number'))
  const nonsense = { ...object, properties: { a: { type: 'nonsense' } } }
  expect(await checkJsonSchema(nonsense, { a: 1 })).toEqual({ kind: 'fits' })
  const foreign = { $schema: 'https://schemas.invalid/dialect', ...object }
  expect(await checkJsonSchema(foreign, 5)).toEqual({ kind: 'fits' })
  expect(await standardSchemaOf(schema)['~standard'].validate({})).toMatchObject({ issues: [{}] })
})

test.each<[string, object, unknown]>([
  ['a pattern that backtracks', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
  [
    'a name that is held against such a pattern',
    { patternProperties: { '^(a|aa)+$': {} } },
    { [`${'a'.repeat(80)}!`]: 1 },
  ],
  [
    'half a million entries that must differ',
    { uniqueItems: true },
    Array.from({ length: 500_000 }, (_, i) => ({ i })),
  ],
])(
  '%s: the check is broken off and the arguments are refused',
  async (_what, property, value) => {
    const schema = { ...object, properties: { a: property } }
    const checked = await standardSchemaOf(schema)['~standard'].validate({ a: value })
    expect(checked.issues?.[0]?.message).toContain('takes too long')
    // What fits at once still does.
    expect(await checkJsonSchema(schema, {})).toEqual({ kind: 'fits' })
  },
  60_000,
)

test('references that multiply: the check is broken off before it fills the memory', async () => {
  const before = process.memoryUsage().heapUsed
  expect(await checkJsonSchema(doubling, { a: 5 })).toEqual({ kind: 'unknown' })
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000_000)
}, 60_000)

test('a schema that takes too long to compile accepts everything, and the next one is none the worse', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { anyOf: [{ pattern: `^a${i}` }, { minimum: i }] }]),
  )
  expect(await checkJsonSchema({ ...object, properties }, 5)).toEqual({ kind: 'fits' })
  expect(await checkJsonSchema({ ...object, required: ['z'] }, {})).toEqual(wrong("'z'"))
}, 60_000)

test('what is wrong is told at a length that can be read', async () => {
  const fit = await checkJsonSchema(
    { items: { type: 'string' } },
    Array.from({ length: 10_000 }, () => 1),
  )
  expect(fit.kind === 'wrong' && Buffer.byteLength(fit.problem)).toBeLessThanOrEqual(2_000)
})
