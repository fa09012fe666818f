import { mostSteps } from './bit-parallel.ts'
import { symbolsOf } from './sequences.ts'

/**
 * Jaro similarity in code points, as RapidFuzz 3.10.1 `distance.Jaro.similarity` gives it. Null: too long to compare (see
 * `mostSteps`).
 */
export function jaro(a: string, b: string): number | null {
  if (a === b) return 1
  const { a: x, b: y } = symbolsOf(a, b)
  const reach = Math.max(0, Math.floor(Math.max(x.length, y.length) / 2) - 1)
  if (x.length * Math.min(y.length, 2 * reach + 1) > mostSteps) return null
  const taken = new Uint8Array(y.length)
  const matched: number[] = []
  for (let i = 0; i < x.length; i++) {
    const end = Math.min(y.length, i + reach + 1)
    for (let j = Math.max(0, i - reach); j < end; j++) {
      if (taken[j] === 1 || x[i] !== y[j]) continue
      taken[j] = 1
      matched.push(x[i]!)
      break
    }
  }
  if (matched.length === 0) return 0
  const others = y.filter((_, j) => taken[j] === 1)
  const swapped = Math.floor(matched.filter((symbol, k) => symbol !== others[k]).length / 2)
  const m = matched.length
  return (m / x.length + m / y.length + (m - swapped) / m) / 3
}

/** Jaro-Winkler: from a Jaro similarity of over 0.7, up to four equal first code points add a tenth of what is missing each. */
export function jaroWinkler(a: string, b: string): number | null {
  const similarity = jaro(a, b)
  if (similarity === null || similarity <= 0.7) return similarity
  const { a: x, b: y } = symbolsOf(a, b)
  let prefix = 0
  while (prefix < 4 && prefix < x.length && prefix < y.length && x[prefix] === y[prefix]) prefix++
  return similarity + prefix * 0.1 * (1 - similarity)
}
