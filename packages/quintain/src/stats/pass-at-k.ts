/** A number, or null and why there is none. */
export type Defined<Reason extends string> =
  | { value: number; reason?: undefined }
  | { value: null; reason: Reason }

/** Why a count-based estimator has no value: fewer trials than draws, or numbers that are no counts. */
export type CountReason = 'k_exceeds_n' | 'not_counts'

export function checkCounts(n: number, c: number, k: number): CountReason | undefined {
  const whole = Number.isInteger(n) && Number.isInteger(c) && Number.isInteger(k)
  if (!whole || n < 0 || c < 0 || c > n || k < 1) return 'not_counts'
  return k > n ? 'k_exceeds_n' : undefined
}

/**
 * The unbiased estimate of P(at least one of k tries succeeds) from c successes in n tries: 1 - C(n-c, k)/C(n, k).
 *
 * Source: Chen et al., "Evaluating Large Language Models Trained on Code" (arXiv 2107.03374).
 */
export function passAtK(n: number, c: number, k: number): Defined<CountReason> {
  const reason = checkCounts(n, c, k)
  if (reason !== undefined) return { value: null, reason }
  if (n - c < k) return { value: 1 }
  let allFail = 1
  for (let j = n - c + 1; j <= n; j++) allFail *= 1 - k / j
  return { value: 1 - allFail }
}
