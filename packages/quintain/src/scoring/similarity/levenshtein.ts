import { levenshteinDistance } from './bit-parallel.ts'
import { symbolsOf } from './sequences.ts'

/**
 * One less the Levenshtein distance by the length of the longer text, both in code points: 1 for equal texts, two empty
 * ones too, 0 where nothing is shared. Null: too long to compare (see `mostSteps`).
 */
export function levenshteinSimilarity(a: string, b: string): number | null {
  if (a === b) return 1
  const symbols = symbolsOf(a, b)
  const distance = levenshteinDistance(symbols)
  return distance === null ? null : 1 - distance / Math.max(symbols.a.length, symbols.b.length)
}
