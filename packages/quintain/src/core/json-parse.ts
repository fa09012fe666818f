/** Why a text is no JSON value: it stops inside one, it breaks the grammar, repeats a key, or nests too deep. */
export type JsonFailure = 'truncated' | 'malformed' | 'duplicate_key' | 'too_deep'

/** A mistake of a text that was mended while reading it. */
export type JsonRepair = 'trailing_comma' | 'raw_control'

export interface JsonParseOptions {
  /** What a repeated key does: `error` (the default) or the last one wins, as in `JSON.parse`. */
  duplicateKeys?: 'error' | 'last'
  /** Accept `,` before `]` and `}`. */
  trailingCommas?: boolean
  /** Accept raw line breaks and other control characters inside strings. */
  rawControls?: boolean
  /** Keep the text of numbers that a double cannot carry, as `JsonNumber`. */
  lossless?: boolean
  /** Deepest nesting; 500 when absent. */
  maxDepth?: number
}

export type JsonParse =
  | { ok: true; value: unknown; end: number; repairs: ReadonlySet<JsonRepair> }
  | { ok: false; failure: JsonFailure; position: number; inString: boolean }

/** A number whose text would change on its way through a double, such as 12345678901234567890 or 1.0. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  toJSON(): number {
    return Number(this.source)
  }
}

const failed = Symbol('failed')
const numberAt = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const openNumber = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/
const plainString = /"[^"\\\u0000-\u001f]*"/y
const literals: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Reads one JSON value (RFC 8259) that starts at `start` and says where it ends; what follows is not looked at.
 * Never throws. Unlike `JSON.parse` it tells a text that stops early from one that is wrong, and sees repeated keys.
 */
export function parseJsonAt(text: string, start = 0, options: JsonParseOptions = {}): JsonParse {
  const maxDepth = options.maxDepth ?? 500
  const duplicatesFail = options.duplicateKeys !== 'last'
  const repairs = new Set<JsonRepair>()
  let at = start
  let failure: JsonFailure = 'malformed'
  let inString = false

  function fail(kind: JsonFailure): typeof failed {
    failure = kind
    return failed
  }
  /** The text is wrong here, or merely over. */
  function unexpected(): typeof failed {
    return fail(at >= text.length ? 'truncated' : 'malformed')
  }
  function skipSpace(): void {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
    }
  }

  function readString(): string | typeof failed {
    plainString.lastIndex = at
    if (plainString.test(text)) {
      const value = text.slice(at + 1, plainString.lastIndex - 1)
      at = plainString.lastIndex
      return value
    }
    let value = ''
    let from = ++at
    for (;;) {
      if (at >= text.length) {
        inString = true
        return fail('truncated')
      }
      const code = text.charCodeAt(at)
      if (code === 34) {
        value += text.slice(from, at++)
        return value
      }
      if (code < 32) {
        if (!options.rawControls) return fail('malformed')
        repairs.add('raw_control')
        at++
      } else if (code === 92) {
        value += text.slice(from, at)
        at++
        const letter = text[at]
        if (letter === undefined) {
          inString = true
          return fail('truncated')
        }
        if (letter === 'u') {
          const hex = text.slice(at + 1, at + 5)
          if (!/^[0-9a-fA-F]{4}$/.test(hex)) {
            if (hex.length < 4 && /^[0-9a-fA-F]*$/.test(hex)) {
              at = text.length
              inString = true
              return fail('truncated')
            }
            return fail('malformed')
          }
          value += String.fromCharCode(Number.parseInt(hex, 16))
          at += 5
        } else {
          const plain = escapes[letter]
          if (plain === undefined) return fail('malformed')
          value += plain
          at++
        }
        from = at
      } else at++
    }
  }

  function readNumber(): unknown {
    numberAt.lastIndex = at
    const source = numberAt.exec(text)?.[0]
    if (
      source === undefined ||
      (at + source.length < text.length && /[.eE\d]/.test(text[at + source.length]!))
    ) {
      if (openNumber.test(text.slice(at, at + 400)) && at + 400 >= text.length) {
        at = text.length
        return fail('truncated')
      }
      return fail('malformed')
    }
    at += source.length
    const value = Number(source)
    return options.lossless && String(value) !== source ? new JsonNumber(source) : value
  }

  function readValue(depth: number): unknown {
    skipSpace()
    const character = text[at]
    if (character === '{' || character === '[') {
      if (depth >= maxDepth) return fail('too_deep')
      return character === '{' ? readObject(depth + 1) : readArray(depth + 1)
    }
    if (character === '"') return readString()
    if (character === '-' || (character !== undefined && character >= '0' && character <= '9'))
      return readNumber()
    for (const [word, value] of literals) {
      if (text.startsWith(word, at)) {
        at += word.length
        return value
      }
      const rest = text.slice(at, at + word.length)
      if (rest !== '' && at + rest.length === text.length && word.startsWith(rest)) {
        at = text.length
        return fail('truncated')
      }
    }
    return unexpected()
  }

  function readArray(depth: number): unknown {
    const items: unknown[] = []
    at++
    skipSpace()
    if (text[at] === ']') {
      at++
      return items
    }
    for (;;) {
      const item = readValue(depth)
      if (item === failed) return failed
      items.push(item)
      skipSpace()
      const next = text[at]
      if (next === ',') {
        at++
        skipSpace()
        if (text[at] === ']' && options.trailingCommas) {
          repairs.add('trailing_comma')
          at++
          return items
        }
      } else if (next === ']') {
        at++
        return items
      } else return unexpected()
    }
  }

  function readObject(depth: number): unknown {
    const fields: Record<string, unknown> = {}
    at++
    skipSpace()
    if (text[at] === '}') {
      at++
      return fields
    }
    for (;;) {
      skipSpace()
      if (text[at] !== '"') return unexpected()
      const keyAt = at
      const key = readString()
      if (key === failed) return failed
      if (duplicatesFail && Object.hasOwn(fields, key)) {
        at = keyAt
        return fail('duplicate_key')
      }
      skipSpace()
      if (text[at] !== ':') return unexpected()
      at++
      const value = readValue(depth)
      if (value === failed) return failed
      // An assignment to this key would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(fields, key, { value, writable: true, enumerable: true, configurable: true })
      else fields[key] = value
      skipSpace()
      const next = text[at]
      if (next === ',') {
        at++
        skipSpace()
        if (text[at] === '}' && options.trailingCommas) {
          repairs.add('trailing_comma')
          at++
          return fields
        }
      } else if (next === '}') {
        at++
        return fields
      } else return unexpected()
    }
  }

  const value = readValue(0)
  return value === failed
    ? { ok: false, failure, position: at, inString }
    : { ok: true, value, end: at, repairs }
}

/** JSON text of a value that may hold `JsonNumber`s; lone surrogates come out escaped, so the bytes are valid UTF-8. */
export function printJson(value: unknown): string {
  if (value instanceof JsonNumber) return value.source
  if (Array.isArray(value)) return `[${value.map((item) => printJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const fields: string[] = []
    for (const [key, inner] of Object.entries(value)) {
      if (inner !== undefined) fields.push(`${JSON.stringify(key)}:${printJson(inner)}`)
    }
    return `{${fields.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
