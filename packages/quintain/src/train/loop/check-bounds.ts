import { QuintainError } from '../../core/index.ts'
import { unboundedSteps } from '../progress.ts'
import type { Algorithm } from '../records.ts'
import type { Stragglers, TrainingMode } from './train-options.ts'

/** Rollouts that a training has in flight or waiting at a time: all that its next steps learn from, with their transcripts. */
export const mostRollouts = 131_072
/** Rollouts that are played at a time. */
export const mostConcurrency = 65_536

/**
 * Refuses what would be ordered without an end, before anything is opened: `options_invalid`, naming the numbers. What a step
 * orders is ordered as a whole, and what is in flight is kept in memory.
 */
export function checkBounds({
  steps,
  algorithm: { groups, groupSize, refill },
  mode = 'sync',
  stragglers = 'wait',
  concurrency,
}: {
  steps: number
  algorithm: Pick<Algorithm, 'groups' | 'groupSize' | 'refill'>
  mode?: TrainingMode
  stragglers?: Stragglers
  concurrency?: number | undefined
}): void {
  if (!Number.isSafeInteger(steps) || steps < 1 || steps > unboundedSteps) {
    throw invalid(`steps is ${steps}; give a whole number from 1 to ${count(unboundedSteps)}.`)
  }
  if (concurrency !== undefined && !(concurrency >= 1 && concurrency <= mostConcurrency)) {
    throw invalid(
      `The concurrency is ${count(concurrency)}; give a whole number from 1 to ${count(mostConcurrency)}.`,
    )
  }
  const steady = mode === 'sync' ? 1 : 1 + mode.async
  const extra = typeof stragglers === 'object' && stragglers.policy === 'over_order' ? stragglers.extra : 0
  const rollouts = (groups * (steady - 1 + refill) + extra) * groupSize
  if (rollouts <= mostRollouts) return
  const parts = [
    `${count(groups)} groups of ${count(groupSize)}`,
    ...(refill > 1 ? [`up to ${refill} times as many where groups are refilled`] : []),
    ...(steady > 1 ? [`${count(steady - 1)} steps ahead`] : []),
    ...(extra > 0 ? [`${count(extra)} groups more for stragglers`] : []),
  ]
  throw invalid(
    `A step may come to ${count(rollouts)} rollouts (${parts.join(', ')}), and a training holds ${count(mostRollouts)} at the most. Lower the groups or the group size.`,
  )
}

function count(number: number): string {
  return number.toLocaleString('en')
}

function invalid(message: string): QuintainError {
  return new QuintainError('options_invalid', message)
}
