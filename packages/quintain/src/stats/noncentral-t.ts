import { betaCdf, logGamma } from './beta.ts'
import { normalCdf } from './normal.ts'
import { studentTCdf } from './student-t.ts'

/**
 * P(T <= t) of the non-central t distribution with `df` degrees of freedom and non-centrality `ncp`: the distribution
 * of a t statistic when there is an effect. Absolute error below 1e-10 for |ncp| <= 37. NaN for df <= 0.
 *
 * Source: Lenth, algorithm AS 243 (Applied Statistics 38, 1989).
 */
export function noncentralTCdf(t: number, df: number, ncp: number): number {
  if (!(df > 0) || Number.isNaN(t) || Number.isNaN(ncp)) return Number.NaN
  // Its square must not vanish below.
  if (Math.abs(ncp) < 1e-150) return studentTCdf(t, df)
  if (t < 0) return 1 - noncentralTCdf(-t, df, -ncp)
  let total = normalCdf(-ncp)
  if (t === 0) return total
  const x = (t * t) / (t * t + df)
  const half = (ncp * ncp) / 2
  // Poisson weights from their largest term outwards, so that none is lost to underflow where it matters.
  const centre = Math.floor(half)
  const even = (j: number) => Math.exp(-half + j * Math.log(half) - logGamma(j + 1))
  const odd = (j: number) => Math.exp(-half + j * Math.log(half) - logGamma(j + 1.5))
  const term = (j: number) =>
    even(j) * betaCdf(x, j + 0.5, df / 2) + (ncp / Math.SQRT2) * odd(j) * betaCdf(x, j + 1, df / 2)
  let sum = 0
  for (let j = centre; j < centre + 2000; j++) {
    sum += term(j)
    if (even(j) < 1e-16 && j > half) break
  }
  for (let j = centre - 1; j >= 0; j--) {
    sum += term(j)
    if (even(j) < 1e-16) break
  }
  total += 0.5 * sum
  return Math.min(1, Math.max(0, total))
}
