import { createHash, hash } from 'node:crypto'
import { messageOf, QuintainError } from './errors.ts'

/**
 * JSON with sorted keys and no undefined: equal data gives equal text. What JSON has no word for at the top, such as
 * undefined, is `null`. Throws `not_json` for a bigint or a cycle.
 */
export function canonicalJson(value: unknown): string {
  try {
    return JSON.stringify(value, sortKeys) ?? 'null'
  } catch (cause) {
    throw new QuintainError('not_json', `A value cannot be written as JSON: ${messageOf(cause)}`, { cause })
  }
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const source = value as Record<string, unknown>
  const keys = Object.keys(source)
  if (keys.every((key, at) => at === 0 || keys[at - 1]! < key)) return value
  return Object.fromEntries(keys.sort().map((key) => [key, source[key]]))
}

/** Hex SHA-256 of text or bytes. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** Hex SHA-256 over length-framed parts, so that no two different lists of parts have one digest. */
export function framedDigest(parts: Iterable<string | Uint8Array>): string {
  const framed = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    framed.update(`${bytes.byteLength}:`)
    framed.update(bytes)
  }
  return framed.digest('hex')
}
