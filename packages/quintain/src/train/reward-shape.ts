import type { Algorithm } from './records.ts'

/**
 * What DAPO takes off the reward of a long rollout (arXiv 2503.14476, equation 13): nothing up to `length - buffer` sampled
 * tokens, then on a straight line down to -`penalty` at `length`, and that beyond it. At most 0.
 */
export function overlongPenalty(
  tokens: number,
  { length, buffer, penalty }: NonNullable<Algorithm['overlong']>,
): number {
  const over = tokens - (length - buffer)
  if (over <= 0) return 0
  return -penalty * (buffer > 0 ? Math.min(1, over / buffer) : 1)
}
