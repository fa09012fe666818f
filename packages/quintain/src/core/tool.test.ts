import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Schema } from './standard-schema.ts'
import { tool, toolError } from './tool.ts'

const byHand: Schema<{ a: number }> = {
  '~standard': { version: 1, vendor: 'by-hand', validate: (value) => ({ value: value as { a: number } }) },
}
const add = {
  name: 'add',
  description: 'Adds one.',
  input: z.object({ a: z.number() }),
  run: ({ a }: { a: number }) => String(a + 1),
}

test('a tool is offered with the JSON Schema of its input', () => {
  const made = tool(add)
  expect(made.spec).toMatchObject({
    name: 'add',
    description: 'Adds one.',
    parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  })
  expect(made.run({ a: 1 } as never, { signal: AbortSignal.any([]), callId: 'c' })).toBe('2')
})

test('a schema that cannot say its JSON Schema comes with one', () => {
  const jsonSchema = { type: 'object', properties: { a: { type: 'number' } } }
  const made = tool({ ...add, input: { schema: byHand, jsonSchema } })
  expect(made.spec.parameters).toBe(jsonSchema)
  expect(made.schema).toBe(byHand)
  expect(() => tool({ ...add, input: byHand })).toThrow(
    expect.objectContaining({ code: 'schema_unsupported' }),
  )
})

test('a schema object that has a member named schema is no pair', () => {
  const input = Object.assign(z.object({ a: z.number() }), { schema: 'something of the library' })
  expect(tool({ ...add, input }).spec.parameters).toMatchObject({ type: 'object' })
})

test.each(['', 'a b', 'é', 'x'.repeat(65), undefined, 5])('the name %j is refused', (name) => {
  expect(() => tool({ ...add, name: name as string })).toThrow(
    expect.objectContaining({ code: 'definition_invalid' }),
  )
})

test.each<[string, object]>([
  ['input that is missing', { input: undefined }],
  ['input that is a plain object', { input: { a: 'number' } }],
  ['input that is not an object', { input: z.string() }],
  ['a pair without its schema', { input: { schema: undefined, jsonSchema: { type: 'object' } } }],
  ['run that is missing', { run: undefined }],
])('%s is refused', (_name, change) => {
  expect(() => tool({ ...add, ...change } as typeof add)).toThrow(
    expect.objectContaining({ code: 'definition_invalid', message: expect.stringContaining('"add"') }),
  )
})

test('a failure for the model to see is a value', () => {
  expect(toolError('not_found', 'There is no order 7.')).toEqual({
    toolError: 'not_found',
    message: 'There is no order 7.',
  })
})
