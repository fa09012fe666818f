import { randomFillSync } from 'node:crypto'

/** Bytes of one: 192 bits. */
const bytes = 24
/** Entropy for so many at once: asking for it is most of what one costs. */
const pool = Buffer.alloc(64 * bytes)
let at = pool.length

/** A name that nobody can guess. */
export function unguessable(): string {
  if (at === pool.length) {
    randomFillSync(pool)
    at = 0
  }
  const name = pool.toString('base64url', at, at + bytes)
  // What was given out is kept by whoever has it.
  pool.fill(0, at, at + bytes)
  at += bytes
  return name
}
