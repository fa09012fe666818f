import { mostSteps } from './bit-parallel.ts'
import { symbolsOf } from './sequences.ts'

const bits = 30
const mask = 2 ** bits - 1

/**
 * The highest ratio of a text and a piece of a longer one: every piece of its length, and every shorter one at either
 * end. Null: it would take too many steps.
 */
export function partialSimilarity(shorter: string, longer: string): number | null {
  if (shorter === '') return longer === '' ? 1 : 0
  const { a, b } = symbolsOf(shorter, longer)
  const blocks = Math.ceil(a.length / bits)
  if ((a.length + b.length) * a.length * blocks > mostSteps) return null
  // Symbols of the shorter text have the lowest numbers; others match nothing.
  const known = Math.max(...a) + 1
  const masks = new Int32Array(known * blocks)
  for (const [at, symbol] of a.entries()) masks[symbol * blocks + Math.floor(at / bits)]! |= 1 << (at % bits)
  const vector = new Int32Array(blocks)
  const common = (from: number, to: number) => {
    vector.fill(mask)
    for (let at = from; at < to; at++) {
      const symbol = b[at]!
      if (symbol >= known) continue
      let carry = 0
      for (let block = 0; block < blocks; block++) {
        const row = vector[block]!
        const matches = row & masks[symbol * blocks + block]!
        const sum = row + matches + carry
        carry = sum >>> bits
        vector[block] = (sum | (row - matches)) & mask
      }
    }
    let length = 0
    for (let at = 0; at < a.length; at++) {
      if ((vector[Math.floor(at / bits)]! & (1 << (at % bits))) === 0) length++
    }
    return length
  }
  let best = 0
  const look = (from: number, to: number) => {
    best = Math.max(best, (2 * common(from, to)) / (a.length + to - from))
  }
  const m = a.length
  for (let to = 1; to < m && best < 1; to++) if (b[to - 1]! < known) look(0, to)
  for (let from = 0; from < b.length - m && best < 1; from++) {
    if (b[from + m - 1]! < known) look(from, from + m)
  }
  for (let from = b.length - m; from < b.length && best < 1; from++) {
    if (b[from]! < known) look(from, b.length)
  }
  return best
}
