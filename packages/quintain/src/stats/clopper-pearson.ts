import { betaQuantile } from './beta.ts'

/**
 * The exact (Clopper-Pearson) interval of a proportion of `k` in `n` whole trials: covers at least `level` always,
 * so it is the one for guarantees. Null for counts that are none.
 */
export function clopperPearsonInterval(k: number, n: number, level = 0.95): [number, number] | null {
  if (!Number.isInteger(k) || !Number.isInteger(n) || n <= 0 || k < 0 || k > n) return null
  if (!(level > 0 && level < 1)) return null
  const tail = (1 - level) / 2
  return [k === 0 ? 0 : betaQuantile(tail, k, n - k + 1), k === n ? 1 : betaQuantile(1 - tail, k + 1, n - k)]
}
