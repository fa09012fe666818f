import { DialectError } from './dialect.ts'

/** A JSON object that a program sent. */
export type Fields = Readonly<Record<string, unknown>>

/** The error for a field of the wrong type; `param` is its path, such as `input[2].content`. */
export function wrong(param: string, expected: string): DialectError {
  return new DialectError('invalid_request', `Invalid type for '${param}': expected ${expected}.`, param)
}

/** The error for what no reply could be had for; `what` names it. */
export function unsupported(what: string, param?: string): DialectError {
  return new DialectError('unsupported', `${what} cannot be had here.`, param)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown, param: string): Fields {
  if (!isFields(value)) throw wrong(param, 'an object')
  return value
}

export function listOf(value: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(param, 'an array')
  return value
}

/** An optional field; null counts as absent, as it does for the providers. */
export function optional(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? (fields[key] ?? undefined) : undefined
}

export function optionalText(fields: Fields, key: string, at = ''): string | undefined {
  const value = optional(fields, key)
  if (value !== undefined && typeof value !== 'string') throw wrong(`${at}${key}`, 'a string')
  return value
}

export function requiredText(fields: Fields, key: string, at = ''): string {
  const value = optionalText(fields, key, at)
  if (value === undefined)
    throw new DialectError('invalid_request', `Missing required parameter: '${at}${key}'.`, `${at}${key}`)
  return value
}

export function optionalNumber(fields: Fields, key: string, at = ''): number | undefined {
  const value = optional(fields, key)
  if (value !== undefined && typeof value !== 'number') throw wrong(`${at}${key}`, 'a number')
  return value
}

/** A count of at least one. */
export function optionalCount(fields: Fields, key: string, at = ''): number | undefined {
  const value = optionalNumber(fields, key, at)
  if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
    throw wrong(`${at}${key}`, 'a positive integer')
  return value
}

export function optionalFlag(fields: Fields, key: string, at = ''): boolean | undefined {
  const value = optional(fields, key)
  if (value !== undefined && typeof value !== 'boolean') throw wrong(`${at}${key}`, 'a boolean')
  return value
}

export function optionalFields(fields: Fields, key: string, at = ''): Fields | undefined {
  const value = optional(fields, key)
  return value === undefined ? undefined : fieldsOf(value, `${at}${key}`)
}

export function optionalList(fields: Fields, key: string, at = ''): readonly unknown[] | undefined {
  const value = optional(fields, key)
  return value === undefined ? undefined : listOf(value, `${at}${key}`)
}

/** Names of the fields that hold something and are not among `known`. */
export function unknownFields(fields: Fields, known: ReadonlySet<string>): string[] {
  return Object.keys(fields).filter((key) => optional(fields, key) !== undefined && !known.has(key))
}
