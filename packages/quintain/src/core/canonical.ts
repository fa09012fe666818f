import { createHash } from 'node:crypto'
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
  return Object.fromEntries(
    Object.keys(source)
      .sort()
      .map((key) => [key, source[key]]),
  )
}

/** Hex SHA-256 of text or bytes. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Hex SHA-256 over length-framed parts, so that no two different lists of parts have one digest. */
export function framedDigest(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    hash.update(`${bytes.byteLength}:`)
    hash.update(bytes)
  }
  return hash.digest('hex')
}
