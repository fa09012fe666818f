import { types } from 'node:util'
import { QuintainError } from '../core/index.ts'

/** Where a walk through a state is: names and positions from the root. */
export type Trail = string[]

/** Deeper than any record is written; what goes on beyond it holds itself. */
const deepest = 1_000

/** Whether a value is an object of fields and nothing else: a literal, or a row of a database. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  // The Object.prototype of another realm, as test runners have.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
}

/** Names of the fields of an object. Throws `not_json` where a field has no name that JSON could write. */
export function fieldNames(record: object, trail: Trail): string[] {
  if (trail.length > deepest)
    throw notPlain(`something that holds itself, or is deeper than ${deepest}`, trail)
  for (const symbol of Object.getOwnPropertySymbols(record)) {
    if (Object.prototype.propertyIsEnumerable.call(record, symbol))
      throw notPlain('an object with a symbol for a name', trail)
  }
  return Object.keys(record)
}

/** Throws `not_json` for a list that carries more than its elements, as the result of `RegExp.exec` does. */
export function checkList(list: readonly unknown[], trail: Trail): void {
  const last = fieldNames(list, trail).at(-1)
  // Positions come first.
  if (last !== undefined && !/^\d+$/.test(last)) throw notPlain(`a list with a field "${last}"`, trail)
}

/**
 * What is no list and no object of fields, in the form that all equals have. A database's big integer is the number
 * that it is, and there is one zero; an instant is its UTC time, bytes are what they hold. Undefined, in a list or
 * alone, equals only itself. Throws `not_json` for all else: a Map and a class instance say in ways of their own what
 * they hold, so two that differ could be taken for equal.
 */
export function plainForm(value: unknown, trail: Trail): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (value === 0) return 0
      return Number.isFinite(value) ? value : { $number: String(value) }
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : { $integer: String(value) }
    case 'undefined':
      return { $undefined: true }
    default:
  }
  if (value === null) return null
  if (types.isDate(value) && !Number.isNaN(value.getTime())) return { $date: value.toISOString() }
  if (types.isUint8Array(value)) return { $bytes: Buffer.from(value).toString('base64') }
  throw notPlain(whatIs(value), trail)
}

const formName = /^\$+(?:number|integer|undefined|date|bytes)$/

/** The name under which a lone field stands, so that no object is written as a number or a date is. */
export function loneName(name: string): string {
  return formName.test(name) ? `$${name}` : name
}

/** What a value is, for people. */
export function whatIs(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (types.isDate(value)) return 'an invalid Date'
  const made: unknown = Object.getPrototypeOf(value)?.constructor
  return typeof made === 'function' && made.name !== '' ? `a ${made.name}` : 'an object of a class'
}

function notPlain(found: string, trail: Trail): QuintainError {
  const place = trail.length === 0 ? '' : ` at ${trail.slice(0, 20).join('.')}`
  return new QuintainError(
    'not_json',
    `A value cannot be compared: there is ${found}${place}. Compared are JSON values, bigints, Dates and Uint8Arrays; ` +
      'make a plain object or list of it, or ignore the place.',
    { facts: { path: [...trail], found } },
  )
}
