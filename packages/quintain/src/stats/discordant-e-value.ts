import { logGamma } from './beta.ts'

const logBeta = (a: number, b: number) => logGamma(a) + logGamma(b) - logGamma(a + b)

/**
 * Evidence from pass or fail on both sides that one is better: an e-value against "each discordant pair is won by
 * either with chance 1/2", by mixing over all win rates with Jeffreys' prior Beta(1/2, 1/2). It is a martingale, so the
 * largest value seen while results come in may be used: p = min(1, 1 / largest). Null for what is no count.
 *
 * Source: Robbins, "Statistical Methods Related to the Law of the Iterated Logarithm" (Ann. Math. Stat. 41, 1970).
 */
export function discordantEValue(wins: number, losses: number): number | null {
  if (!Number.isInteger(wins) || !Number.isInteger(losses) || wins < 0 || losses < 0) return null
  const log = logBeta(wins + 0.5, losses + 0.5) - logBeta(0.5, 0.5) + (wins + losses) * Math.LN2
  return Math.exp(Math.min(700, log))
}
