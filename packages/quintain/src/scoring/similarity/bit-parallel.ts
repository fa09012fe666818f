import { type Symbols, withoutCommonEnds } from './sequences.ts'

/** Bits of a word that are used: sums of two words and a carry then stay within 31 bits, where additions are fast. */
const bits = 30
const mask = 2 ** bits - 1

/**
 * Steps that one comparison may take: some seconds at most. Two texts of 100,000 code points take 330 million; a text of
 * ten million against one of 1,000 takes as many.
 */
export const mostSteps = 400_000_000

/** Steps of a comparison of two sequences of these lengths. */
export function stepsOf(a: number, b: number): number {
  return Math.ceil(Math.min(a, b) / bits) * Math.max(a, b)
}

/**
 * Length of the longest common subsequence, 30 cells of the table at a time. Null: it would take too many steps.
 * Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).
 */
export function lcsLength(symbols: Symbols): number | null {
  const { a, b, common } = withoutCommonEnds(symbols)
  if (stepsOf(a.length, b.length) > mostSteps) return null
  const [pattern, text] = a.length <= b.length ? [a, b] : [b, a]
  const masks = new Int32Array(symbols.size)
  // A block of the pattern runs over the whole text before the next does, and leaves its carries.
  const carries = new Uint8Array(text.length)
  let length = common
  for (let start = 0; start < pattern.length; start += bits) {
    const height = Math.min(bits, pattern.length - start)
    for (let row = 0; row < height; row++) masks[pattern[start + row]!]! |= 1 << row
    let vector = mask
    for (let at = 0; at < text.length; at++) {
      const matches = vector & masks[text[at]!]!
      const sum = vector + matches + carries[at]!
      carries[at] = sum >>> bits
      vector = (sum | (vector - matches)) & mask
    }
    for (let row = 0; row < height; row++) {
      if ((vector & (1 << row)) === 0) length++
      masks[pattern[start + row]!] = 0
    }
  }
  return length
}

/**
 * Levenshtein distance: fewest insertions, deletions and replacements. Null: it would take too many steps.
 * Myers (1999) in the form of Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003).
 */
export function levenshteinDistance(symbols: Symbols): number | null {
  const { a, b } = withoutCommonEnds(symbols)
  if (stepsOf(a.length, b.length) > mostSteps) return null
  const [pattern, text] = a.length <= b.length ? [a, b] : [b, a]
  if (pattern.length === 0) return text.length
  const masks = new Int32Array(symbols.size)
  // Differences along the row above the block: the distance from nothing grows by one a symbol.
  const above = new Int8Array(text.length).fill(1)
  let distance = pattern.length
  for (let start = 0; start < pattern.length; start += bits) {
    const height = Math.min(bits, pattern.length - start)
    for (let row = 0; row < height; row++) masks[pattern[start + row]!]! |= 1 << row
    const last = 1 << (height - 1)
    let up = mask
    let down = 0
    for (let at = 0; at < text.length; at++) {
      const into = above[at]!
      let equal = masks[text[at]!]!
      const vertical = equal | down
      if (into < 0) equal |= 1
      const horizontal = (((equal & up) + up) ^ up) | equal
      let more = down | ~(horizontal | up)
      let less = up & horizontal
      above[at] = (more & last) !== 0 ? 1 : (less & last) !== 0 ? -1 : 0
      more = (more << 1) | (into > 0 ? 1 : 0)
      less = (less << 1) | (into < 0 ? 1 : 0)
      up = (less | ~(vertical | more)) & mask
      down = more & vertical & mask
    }
    for (let row = 0; row < height; row++) masks[pattern[start + row]!] = 0
  }
  for (const difference of above) distance += difference
  return distance
}
