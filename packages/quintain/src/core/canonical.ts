import { createHash, hash } from 'node:crypto'
import { messageOf, QuintainError } from './errors.ts'

/**
 * JSON with sorted keys and no undefined: equal data gives equal text. What JSON has no word for at the top, such as
 * undefined, is `null`. Throws `not_json` for a bigint or a cycle.
 */
export function canonicalJson(value: unknown): string {
  try {
    const plain = sorted(value, 0)
    // Without a replacer JSON.stringify is several times quicker.
    return (plain === irregular ? JSON.stringify(value, sortKeys) : JSON.stringify(plain)) ?? 'null'
  } catch (cause) {
    throw new QuintainError('not_json', `A value cannot be written as JSON: ${messageOf(cause)}`, { cause })
  }
}

/** Data that says itself what it is in JSON, or that is nested so deep that it may have no end. */
const irregular = Symbol('irregular')
const deepest = 100

/** The value with the keys of every object in order: itself where they are so already, and copies where they are not. */
function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > deepest || typeof (value as { toJSON?: unknown }).toJSON === 'function') return irregular
  if (Array.isArray(value)) return sortedItems(value, depth)
  const source = value as Record<string, unknown>
  const keys = Object.keys(source)
  let inOrder = true
  let items: unknown[] | undefined
  for (let at = 0; at < keys.length; at++) {
    const held = source[keys[at]!]
    const item = sorted(held, depth + 1)
    if (item === irregular) return irregular
    if (item !== held) items ??= keys.slice(0, at).map((key) => source[key])
    items?.push(item)
    if (at > 0 && keys[at - 1]! > keys[at]!) inOrder = false
  }
  if (inOrder && items === undefined) return value
  const entries = keys.map((key, at): [string, unknown] => [
    key,
    items === undefined ? source[key] : items[at],
  ])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function sortedItems(items: readonly unknown[], depth: number): unknown {
  let copy: unknown[] | undefined
  for (let at = 0; at < items.length; at++) {
    const item = sorted(items[at], depth + 1)
    if (item === irregular) return irregular
    if (item === items[at]) continue
    copy ??= items.slice()
    copy[at] = item
  }
  return copy ?? items
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
