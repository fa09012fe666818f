import type { Algorithm } from './records.ts'

/**
 * The learning rate when `progress` of a training is behind it, from 0 at its first step to 1 at its last: on a straight
 * line from `learningRate` to `decayTo` times it.
 */
export function learningRateAt(
  { learningRate, decayTo }: Pick<Algorithm['adam'], 'learningRate' | 'decayTo'>,
  progress: number,
): number {
  const behind = Math.min(1, Math.max(0, progress))
  return learningRate * (1 - (1 - decayTo) * behind)
}
