import { binomialProbability } from './binomial.ts'
import { signTest } from './sign-test.ts'

export interface McNemar {
  /** Pairs in which only the first succeeded, and only the second. */
  onlyFirst: number
  onlySecond: number
  /** Exact two-sided p: never too small, often too large. */
  p: number
  /**
   * Mid-p: half the probability of what was seen is left out. Closer to its level, and it may exceed it by a little.
   * Source: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013).
   */
  midP: number
}

/**
 * McNemar's exact test of paired yes or no, from the pairs that differ: pairs that agree say nothing of a difference.
 * Without any that differ p is 1. Null for what is no count.
 */
export function mcnemarTest(onlyFirst: number, onlySecond: number): McNemar | null {
  const p = signTest(onlyFirst, onlySecond)
  if (p === null) return null
  const n = onlyFirst + onlySecond
  const seen = n === 0 ? 0 : binomialProbability(onlyFirst, n, 0.5)
  // With b = c the doubled tail exceeds 1 by the probability of what was seen, so that mid-p is 1 without it.
  const midP = onlyFirst === onlySecond ? 1 : Math.max(Number.MIN_VALUE, p - seen)
  return { onlyFirst, onlySecond, p, midP: Math.min(1, midP) }
}
