import { logGamma } from './beta.ts'

/** P(X = k) of Binomial(n, p), for whole 0 <= k <= n and p in [0, 1]. */
export function binomialProbability(k: number, n: number, p: number): number {
  if (p <= 0) return k === 0 ? 1 : 0
  if (p >= 1) return k === n ? 1 : 0
  const ways = logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1)
  return Math.exp(ways + k * Math.log(p) + (n - k) * Math.log1p(-p))
}
