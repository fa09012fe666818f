import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { QuintainError } from './errors.ts'

/** Any schema of the Standard Schema family (zod, valibot, arktype, …). https://standardschema.dev */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output>

/** A JSON Schema document, draft 2020-12. */
export type JsonSchema = Record<string, unknown>

/** One problem found by a schema: where, and what. */
export interface SchemaIssue {
  /** Path of the value inside what was checked, such as `customer.name`; empty for the value itself. */
  path: string
  message: string
}

/**
 * Checks `value`; a failure is a value here, since most of what is checked was written by a model or a file. So is a
 * schema that throws; what it threw stays its own, as it may quote what the model must not see.
 */
export async function validate<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<{ value: Output; issues?: undefined } | { value?: undefined; issues: SchemaIssue[] }> {
  let result: StandardSchemaV1.Result<Output>
  try {
    result = await schema['~standard'].validate(value)
  } catch (thrown) {
    const what = thrown instanceof Error ? `a ${thrown.name}` : 'something'
    return { issues: [{ path: '', message: `the schema threw ${what} on this value` }] }
  }
  if (result.issues === undefined) return { value: result.value }
  return {
    issues: result.issues.map((issue) => ({
      path: (issue.path ?? [])
        .map((segment) => String(typeof segment === 'object' ? segment.key : segment))
        .join('.'),
      message: issue.message,
    })),
  }
}

/** The JSON Schema of a schema whose library can produce one (Standard JSON Schema), or undefined. */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  const props = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  if (typeof props.jsonSchema?.input !== 'function') return undefined
  try {
    return props.jsonSchema.input({ target: 'draft-2020-12' })
  } catch (cause) {
    throw new QuintainError(
      'schema_unsupported',
      `The ${props.vendor} schema has no JSON Schema form (${cause instanceof Error ? cause.message : cause}); pass { schema, jsonSchema } with one written by hand.`,
      { cause },
    )
  }
}
