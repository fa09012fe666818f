import { dereference, type Schema, type SchemaDraft } from '@cfworker/json-schema'

/** A schema that is ready for checks, or why it is none. */
export type ReadSchema =
  | {
      schema: Schema | boolean
      draft: SchemaDraft
      lookup: Record<string, Schema | boolean>
      /** As JSON. */
      text: string
    }
  | { error: 'invalid_schema' | 'deadline' | 'too_deep'; message: string }

const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/**
 * Makes a schema ready: a copy of it, since references are noted in it, with each part found by its address. What would
 * only show when a value reaches it is refused at once: unknown types, patterns that are none, references to nothing here.
 */
export function readSchema(given: unknown): ReadSchema {
  let text: string
  try {
    text = JSON.stringify(given) ?? 'null'
  } catch {
    return { error: 'too_deep', message: 'the schema nests too deep, or holds itself' }
  }
  const schema: Schema | boolean | null = JSON.parse(text)
  if (typeof schema === 'boolean') return { schema, draft: '2020-12', lookup: {}, text }
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) {
    return invalid('a schema is an object, true or false')
  }
  try {
    const lookup = dereference(schema)
    for (const part of Object.values(lookup)) {
      const wrong = wrongWith(part, lookup)
      if (wrong !== null) return invalid(wrong)
    }
    return { schema, draft: draftOf(schema.$schema), lookup, text }
  } catch (thrown) {
    if (thrown instanceof RangeError) return { error: 'too_deep', message: 'the schema nests too deep' }
    return invalid(thrown instanceof Error ? thrown.message.slice(0, 300) : 'it cannot be read')
  }
}

function invalid(message: string): ReadSchema {
  return { error: 'invalid_schema', message }
}

function wrongWith(part: Schema | boolean, lookup: Record<string, Schema | boolean>): string | null {
  if (typeof part === 'boolean') return null
  if ('$dynamicRef' in part) return '$dynamicRef is not supported; use $ref'
  if (part.$ref !== undefined && lookup[part.__absolute_ref__ ?? part.$ref] === undefined) {
    return `$ref ${JSON.stringify(part.$ref).slice(0, 200)} is not in the schema; nothing is fetched, so put it under $defs`
  }
  const named: unknown[] = part.type === undefined ? [] : [part.type].flat()
  const unknown = named.find((type) => typeof type !== 'string' || !types.has(type))
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is no type of JSON`
  const patterns: unknown[] = Object.keys(part.patternProperties ?? {})
  if (part.pattern !== undefined) patterns.push(part.pattern)
  return patterns.map(wrongPattern).find((wrong) => wrong !== null) ?? null
}

function wrongPattern(pattern: unknown): string | null {
  try {
    if (typeof pattern !== 'string') return 'a pattern is a text'
    new RegExp(pattern, 'u')
    return null
  } catch {
    return `${JSON.stringify(pattern).slice(0, 200)} is no pattern`
  }
}

function draftOf(uri: unknown): SchemaDraft {
  const named = typeof uri === 'string' ? /draft-0?([467])\/|(2019-09|2020-12)/.exec(uri) : null
  if (named?.[1] !== undefined) return named[1] === '4' ? '4' : '7'
  return named?.[2] === '2019-09' ? '2019-09' : '2020-12'
}
