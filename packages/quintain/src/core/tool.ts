import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Turn } from './environment.ts'
import { QuintainError } from './errors.ts'
import type { Content } from './message.ts'
import type { ToolSpec } from './model.ts'
import { type JsonSchema, jsonSchemaOf, type Schema } from './standard-schema.ts'

export interface ToolContext {
  /** Aborted when the tool's deadline passes or the rollout is cancelled. */
  signal: AbortSignal
  callId: string
  /** Tells whoever waits that the work goes on: what is done, of how much where that is known. Absent where nobody listens. */
  progress?(done: number, total?: number, message?: string): void
}

/** A tool of a world, ready to be offered to a model. Made by `tool()`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: Schema
  readonly spec: ToolSpec
  run(input: never, context: ToolContext): ToolResult | Promise<ToolResult>
}

/** What a tool gives back: something to read, or a turn of the environment. A failure the model should see is `toolError()`. */
export type ToolResult = Content | Turn | ToolFailure

/** A failure that belongs to the model: it sees `message`, the run goes on, and `code` is counted. */
export interface ToolFailure {
  readonly toolError: string
  readonly message: string
}

/** @example return toolError('not_found', `There is no order ${id}.`) */
export function toolError(code: string, message: string): ToolFailure {
  return { toolError: code, message }
}

/**
 * A tool whose arguments are checked by a schema.
 *
 * `input` is any Standard Schema whose library can produce a JSON Schema (zod, arktype, …), or a pair
 * `{ schema, jsonSchema }` for one that cannot. Throws `schema_unsupported` for a schema without JSON Schema
 * and `definition_invalid` for a name or an input that providers would refuse.
 *
 * @example
 * tool({
 *   name: 'add',
 *   description: 'Adds two integers.',
 *   input: z.object({ a: z.number().int(), b: z.number().int() }),
 *   run: ({ a, b }) => String(a + b),
 * })
 */
export function tool<S extends StandardSchemaV1>(definition: {
  name: string
  description: string
  input: S | { schema: S; jsonSchema: JsonSchema }
  run(input: StandardSchemaV1.InferOutput<S>, context: ToolContext): ToolResult | Promise<ToolResult>
}): Tool {
  if (typeof definition !== 'object' || definition === null) {
    throw new QuintainError('definition_invalid', 'tool() takes { name, description, input, run }.')
  }
  const { name, description, input } = definition
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new QuintainError(
      'definition_invalid',
      `Tool name ${JSON.stringify(name)}: use 1 to 64 letters, digits, "_" or "-", as every provider accepts.`,
      { facts: { name } },
    )
  }
  const pair = isPair(input)
  const schema = pair ? input.schema : input
  if (!isSchema(schema) || typeof definition.run !== 'function') {
    throw new QuintainError(
      'definition_invalid',
      `Tool "${name}": ${isSchema(schema) ? '"run" is no function' : '"input" is no Standard Schema, such as z.object({ … })'}.`,
      { facts: { name } },
    )
  }
  const parameters = pair ? input.jsonSchema : jsonSchemaOf(schema)
  if (parameters === undefined) {
    throw new QuintainError(
      'schema_unsupported',
      `Tool "${name}": its schema library cannot produce a JSON Schema; pass input: { schema, jsonSchema }.`,
      { facts: { name } },
    )
  }
  // Models send arguments by name; providers refuse a tool that takes anything else.
  const { type } = parameters
  if (type !== undefined && type !== 'object') {
    throw new QuintainError(
      'definition_invalid',
      `Tool "${name}": its input is of type ${JSON.stringify(type)}; arguments are an object, such as z.object({ … }).`,
      { facts: { name } },
    )
  }
  return {
    name,
    description,
    schema,
    spec: { name, description, parameters },
    run: definition.run as Tool['run'],
  }
}

/** A schema object may itself have a member named `schema`, so what it is not says more. */
function isPair<S>(
  input: S | { schema: S; jsonSchema: JsonSchema },
): input is { schema: S; jsonSchema: JsonSchema } {
  return !isSchema(input) && typeof input === 'object' && input !== null && 'schema' in input
}

function isSchema(value: unknown): value is Schema {
  const known = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return known && '~standard' in value
}
