import { betaCdf } from './beta.ts'
import { normalQuantile } from './normal.ts'

/** P(T <= t) of Student's t with `df` > 0 degrees of freedom (not only whole ones); NaN for others. */
export function studentTCdf(t: number, df: number): number {
  if (!(df > 0) || Number.isNaN(t)) return Number.NaN
  // Both forms equal half the probability of both tails; the first keeps its digits near zero, the second far out.
  const square = t * t
  const tail =
    square < 1
      ? 0.5 * (1 - betaCdf(square / (df + square), 0.5, df / 2))
      : 0.5 * betaCdf(df / (df + square), df / 2, 0.5)
  return t > 0 ? 1 - tail : tail
}

/** The t with `studentTCdf(t, df) = p`, for p in [0, 1]; accurate to 1e-10 relative. NaN outside. */
export function studentTQuantile(p: number, df: number): number {
  if (!(p >= 0 && p <= 1) || !(df > 0)) return Number.NaN
  if (p === 0) return -Infinity
  if (p === 1) return Infinity
  if (p === 0.5) return 0
  if (p < 0.5) return -studentTQuantile(1 - p, df)
  let low = 0
  let high = Math.max(1, normalQuantile(p))
  while (studentTCdf(high, df) < p && high < 1e300) {
    low = high
    high *= 2
  }
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const middle = (low + high) / 2
    if (studentTCdf(middle, df) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
