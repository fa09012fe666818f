import { createHash } from 'node:crypto'

/** JSON with sorted keys and no undefined: equal data gives equal text. Cycles throw as in `JSON.stringify`. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    const source = inner as Record<string, unknown>
    return Object.fromEntries(
      Object.keys(source)
        .sort()
        .map((key) => [key, source[key]]),
    )
  })
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
