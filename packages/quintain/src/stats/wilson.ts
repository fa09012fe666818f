import { normalQuantile } from './normal.ts'

/**
 * Wilson's score interval of a proportion of `k` in `n`. Neither need be whole: an effective sample size will do.
 * Null when n is not above zero, k lies outside [0, n], or the critical value is none.
 *
 * Source: E. B. Wilson, JASA 22 (1927).
 */
export function wilsonInterval(
  k: number,
  n: number,
  level = 0.95,
  critical: number = normalQuantile((1 + level) / 2),
): [number, number] | null {
  if (!(n > 0 && n < Number.POSITIVE_INFINITY && k >= 0 && k <= n) || !(level > 0 && level < 1)) return null
  if (!(critical > 0 && critical < Number.POSITIVE_INFINITY)) return null
  const p = k / n
  const square = critical * critical
  const scale = 1 + square / n
  const centre = (p + square / (2 * n)) / scale
  const half = (critical * Math.sqrt((p * (1 - p)) / n + square / (4 * n * n))) / scale
  // At the ends the bound is exact; rounding must not move it inside or outside.
  return [k === 0 ? 0 : Math.max(0, centre - half), k === n ? 1 : Math.min(1, centre + half)]
}
