import { type CountReason, checkCounts, type Defined } from './pass-at-k.ts'

/**
 * The unbiased estimate of P(all of k tries succeed) from c successes in n tries: C(c, k)/C(n, k).
 *
 * Source: Yao et al., "tau-bench" (arXiv 2406.12045).
 */
export function passHatK(n: number, c: number, k: number): Defined<CountReason> {
  const reason = checkCounts(n, c, k)
  if (reason !== undefined) return { value: null, reason }
  let value = 1
  for (let i = 0; i < k; i++) value *= Math.max(0, c - i) / (n - i)
  return { value }
}
