import { canonicalState, stateText } from './canonical-state.ts'
import { isRecord } from './state-value.ts'

/** How texts are compared. `loose` leaves out case, spaces and `,./-_*^`, as the Berkeley function-calling checker does. */
export type StringMode = 'exact' | 'loose'

export interface ArgumentRules {
  /** `exact` when absent. */
  strings?: StringMode
}

/**
 * Whether an argument is of a type and has the expected value.
 *
 * Types: `string`, `integer`, `float` (or `number`, `double`), `boolean`, `null`, `any`, `object` (or `dict`), `array`
 * (or `list`, `tuple`), and `T[]` to any depth. A whole number is a float; text and truth values are never numbers. A
 * type that is not known matches nothing. The rules are those of BFCL's `ast_checker.py`, but for depth.
 */
export function argumentMatches(
  type: string,
  expected: unknown,
  actual: unknown,
  rules: ArgumentRules = {},
): boolean {
  return hasType(type.trim().toLowerCase(), actual) && sameArgument(expected, actual, rules)
}

function hasType(type: string, value: unknown): boolean {
  if (type.endsWith('[]'))
    return Array.isArray(value) && value.every((item) => hasType(type.slice(0, -2), item))
  const inner = /^(?:array|list)<(.+)>$/.exec(type)?.[1]
  if (inner !== undefined) return hasType(`${inner}[]`, value)
  switch (type) {
    case 'any':
      return true
    case 'string':
      return typeof value === 'string'
    case 'integer':
    case 'int':
    case 'long':
      return typeof value === 'bigint' || Number.isInteger(value)
    case 'float':
    case 'number':
    case 'double':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))
    case 'boolean':
    case 'bool':
      return typeof value === 'boolean'
    case 'null':
      return value === null
    case 'array':
    case 'list':
    case 'tuple':
      return Array.isArray(value)
    case 'object':
    case 'dict':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return false
  }
}

/**
 * Whether two argument values are equal: numbers as numbers, lists in order, objects whatever the order of their keys.
 * Throws `not_json` for what `stateDiff` refuses; arguments that were read from JSON hold nothing of the kind.
 */
export function sameArgument(expected: unknown, actual: unknown, rules: ArgumentRules = {}): boolean {
  if (typeof expected === 'string' && typeof actual === 'string') {
    return rules.strings === 'loose' ? loose(expected) === loose(actual) : expected === actual
  }
  if (Array.isArray(expected) || Array.isArray(actual)) {
    if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length) return false
    return expected.every((item, i) => sameArgument(item, actual[i], rules))
  }
  if (isRecord(expected) || isRecord(actual)) {
    if (!isRecord(expected) || !isRecord(actual)) return false
    const keys = Object.keys(expected)
    return (
      keys.length === Object.keys(actual).length &&
      keys.every((key) => Object.hasOwn(actual, key) && sameArgument(expected[key], actual[key], rules))
    )
  }
  return stateText(canonicalState(expected, [])) === stateText(canonicalState(actual, []))
}

function loose(text: string): string {
  return text
    .replace(/[ ,./\-_*^]/g, '')
    .toLowerCase()
    .replaceAll("'", '"')
}
