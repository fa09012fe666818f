import { endOfString } from '../../core/json-depth.ts'
import type { WireRequest } from '../../core/wire.ts'

/**
 * The JSON of a program's body with other fields put in. What is as the program wrote it is copied from its text: a
 * history of a megabyte is not written anew with every turn. A field that names a key twice anywhere in it is written as
 * it was read, since another reader may take the other one. Fields that are undefined are left out.
 */
export function amendedText(
  amended: Readonly<Record<string, unknown>>,
  { body, text }: Pick<WireRequest, 'body' | 'text'>,
): string {
  if (text === undefined) return JSON.stringify(amended)
  const written = fieldTexts(text)
  const fields: string[] = []
  for (const [key, value] of Object.entries(amended)) {
    const field = Object.hasOwn(body, key) && body[key] === value ? written.get(key) : undefined
    const asRead = field !== undefined && field.keys === keysIn(value)
    const json: string | undefined = asRead ? field.json : JSON.stringify(value)
    if (json !== undefined) fields.push(`${JSON.stringify(key)}:${json}`)
  }
  return `{${fields.join(',')}}`
}

/** The keys of an object and of all that it holds. */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const held: unknown[] = Object.values(value)
  let keys = Array.isArray(value) ? 0 : held.length
  for (const one of held) keys += keysIn(one)
  return keys
}

/**
 * The JSON of each field of a JSON object, and how many keys are written in it; of a key that is repeated the last one,
 * as it is read.
 */
function fieldTexts(json: string): Map<string, { json: string; keys: number }> {
  const fields = new Map<string, { json: string; keys: number }>()
  let depth = 0
  let key: string | undefined
  let from = 0
  let keys = 0
  const end = (at: number): void => {
    if (key !== undefined) fields.set(key, { json: json.slice(from, at), keys })
    key = undefined
    keys = 0
  }
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"': {
        const until = endOfString(json, at)
        if (depth === 1 && key === undefined) key = JSON.parse(json.slice(at, until + 1)) as string
        at = until
        break
      }
      case ':':
        if (depth === 1) from = at + 1
        else keys++
        break
      case ',':
        if (depth === 1) end(at)
        break
      case '{':
      case '[':
        depth++
        break
      case '}':
      case ']':
        if (--depth === 0) end(at)
    }
  }
  return fields
}
