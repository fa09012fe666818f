import { endOfString, nestsTooDeep } from '../../core/index.ts'
import type { SchemaProblem } from './match-json-schema.ts'

/** A JSON text as a value, or what is wrong with it. `inexact` is an integer that a double cannot carry. */
export type JsonValue = { value: unknown; inexact?: string; problem?: undefined } | { problem: SchemaProblem }

/**
 * Reads a JSON text in full: nothing is mended. Objects that name a key twice have no one meaning and are refused, as is
 * nesting deeper than `mostNesting`.
 */
export function readJsonValue(text: string): JsonValue {
  if (nestsTooDeep(text)) return refused('it nests too deep')
  const inexact: string[] = []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refused('the text is not JSON')
  }
  const repeated = scan(text, inexact)
  if (repeated !== null) return refused(`the key ${repeated} is there twice in one object`)
  const [first] = inexact
  return first === undefined ? { value } : { value, inexact: first }
}

function refused(message: string): JsonValue {
  return { problem: { path: '', keyword: 'json', message } }
}

const integerAt = /-?\d+(?![\d.eE])/y
const numberAt = /-?\d[\d.eE+-]*/y

/** The first key that an object of a well-formed text has twice; notes integers that lose digits. */
function scan(text: string, inexact: string[]): string | null {
  // Keys of the objects that are open; null for an array.
  const open: (Set<string> | null)[] = []
  let key = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (letter === '{') {
      open.push(new Set())
      key = true
    } else if (letter === '[') {
      open.push(null)
      key = false
    } else if (letter === '}' || letter === ']') open.pop()
    else if (letter === ',') key = open.at(-1) !== null
    else if (letter === ':') key = false
    else if (letter === '"') {
      const end = endOfString(text, at)
      const keys = open.at(-1)
      if (key && keys !== null && keys !== undefined) {
        const raw = text.slice(at, end + 1)
        const name = raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw
        if (keys.has(name)) return name.slice(0, 80)
        keys.add(name)
      }
      at = end
    } else if (letter === '-' || (letter >= '0' && letter <= '9')) {
      integerAt.lastIndex = at
      const digits = integerAt.exec(text)?.[0]
      if (digits !== undefined && digits.length > 15 && losesDigits(digits)) inexact.push(digits.slice(0, 80))
      numberAt.lastIndex = at
      numberAt.exec(text)
      at = numberAt.lastIndex - 1
    }
  }
  return null
}

function losesDigits(digits: string): boolean {
  const value = Number(digits)
  // Past 400 digits none is carried, and making a BigInt of them takes long.
  return digits.length > 400 || !Number.isFinite(value) || BigInt(value) !== BigInt(digits)
}
