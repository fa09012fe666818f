import { betaCdf } from './beta.ts'

/**
 * Exact two-sided sign test: how surprising is b : c if both are equally likely? In (0, 1]; null for what is no count.
 * McNemar's exact test is this test of the discordant pairs (see `mcnemarTest`).
 */
export function signTest(b: number, c: number): number | null {
  if (!Number.isInteger(b) || !Number.isInteger(c) || b < 0 || c < 0) return null
  const n = b + c
  const fewer = Math.min(b, c)
  if (n === 0 || fewer * 2 === n) return 1
  // P(X <= fewer) of Binomial(n, 1/2) is I_{1/2}(n - fewer, fewer + 1). A p-value is never zero, even below 2^-1074.
  return Math.max(Number.MIN_VALUE, Math.min(1, 2 * betaCdf(0.5, n - fewer, fewer + 1)))
}
