import { endOfString, nestsTooDeep } from '../../core/index.ts'

/** What a JSON text says, and what is lost when a program reads it. */
export type JsonReading =
  | {
      ok: true
      value: unknown
      /** Names that stand twice in one object; the last one counts, as in Python. */
      twice: string[]
      /** Numbers that no JavaScript number holds, by the path of names from the top; what the file says is kept as text. */
      huge: { path: string; digits: string }[]
    }
  | { ok: false; message: string }

/** Only such digits can make a number too large to be exact, or to be a number at all. */
const mayOverflow = /\d{16}|[eE]\+?\d{3}/

/** Reads a JSON text exactly. Never throws; linear in its length. */
export function readJsonText(text: string): JsonReading {
  if (nestsTooDeep(text)) return { ok: false, message: 'it nests too deep to be read' }
  const huge: { path: string; digits: string }[] = []
  let value: unknown
  try {
    value = mayOverflow.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
  } catch (thrown) {
    return {
      ok: false,
      message: `it is no JSON: ${thrown instanceof Error ? thrown.message.slice(0, 200) : 'unreadable'}`,
    }
  }
  return { ok: true, value: withoutHuge(value, '', huge), twice: namesTwice(text), huge }
}

class HugeNumber {
  readonly digits: string
  constructor(digits: string) {
    this.digits = digits
  }
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  // JSON.stringify would write an overflow such as 1e400 as null.
  return !Number.isFinite(value) || /^-?\d+$/.test(source) ? new HugeNumber(source) : value
}

function withoutHuge(value: unknown, path: string, huge: { path: string; digits: string }[]): unknown {
  if (value instanceof HugeNumber) {
    huge.push({ path, digits: value.digits })
    return value.digits
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one, at) => withoutHuge(one, `${path}[${at}]`, huge))
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [
    name,
    withoutHuge(one, path === '' ? name : `${path}.${name}`, huge),
  ])
  return Object.fromEntries(entries)
}

/** Names that an object of a valid JSON text has twice. */
function namesTwice(json: string): string[] {
  const open: (Set<string> | undefined)[] = []
  const twice = new Set<string>()
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '{') open.push(new Set())
    else if (sign === '[') open.push(undefined)
    else if (sign === '}' || sign === ']') open.pop()
    else if (sign === '"') {
      const end = endOfString(json, at)
      const names = open.at(-1)
      if (names !== undefined && followedByColon(json, end + 1)) {
        const raw = json.slice(at, end + 1)
        const name = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
        if (names.has(name)) twice.add(name)
        names.add(name)
      }
      at = end
    }
  }
  return [...twice]
}

function followedByColon(json: string, from: number): boolean {
  let at = from
  while (at < json.length && ' \t\n\r'.includes(json[at]!)) at++
  return json[at] === ':'
}
