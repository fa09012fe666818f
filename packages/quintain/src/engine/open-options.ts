import {
  didYouMean,
  type ErasedDefinition,
  jsonSchemaOf,
  QuintainError,
  type Schema,
  validate,
} from '../core/index.ts'

/**
 * The options of an environment, checked and completed with their defaults.
 * Throws `options_invalid` with every problem; an unknown option suggests the nearest.
 */
export async function openOptions(
  definition: ErasedDefinition,
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const schema = definition.options as Schema<Record<string, unknown>> | undefined
  if (schema === undefined) {
    const [first] = Object.keys(given)
    if (first === undefined) return {}
    throw new QuintainError('options_invalid', `This environment has no options; "${first}" was given.`, {
      facts: { option: first },
    })
  }
  const result = await validate(schema, given)
  if (result.issues !== undefined) {
    const lines = result.issues.map(({ path, message }) =>
      path === '' ? message : `option "${path}": ${message}`,
    )
    throw new QuintainError('options_invalid', `The options do not fit: ${lines.join('; ')}`, {
      facts: { issues: result.issues },
    })
  }
  // Many schema libraries drop what they do not know; an option that is dropped is a slip that nobody would see.
  const known = knownOptions(schema, result.value)
  for (const name of Object.keys(given)) {
    if (known.has(name)) continue
    throw new QuintainError(
      'options_invalid',
      `Unknown option "${name}"${didYouMean(name, known)}${known.size > 0 ? ` Options: ${[...known].join(', ')}.` : ''}`,
      { facts: { option: name, known: [...known] } },
    )
  }
  return result.value
}

function knownOptions(schema: Schema, value: Record<string, unknown>): Set<string> {
  let properties: Record<string, unknown> = {}
  try {
    properties = (jsonSchemaOf(schema)?.['properties'] as Record<string, unknown> | undefined) ?? {}
  } catch {
    // A schema with a transform has no JSON form; what it lets through is what it knows.
  }
  return new Set([...Object.keys(properties), ...Object.keys(value)])
}
