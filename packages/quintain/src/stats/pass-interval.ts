import { type BootstrapInterval, type BootstrapOptions, bootstrapInterval } from './bootstrap.ts'
import { mean } from './mean.ts'
import { overTasks } from './over-tasks.ts'
import type { CountReason, Defined } from './pass-at-k.ts'
import type { Scope } from './scope.ts'
import { wilsonInterval } from './wilson.ts'

export interface PassInterval {
  /** Mean over all tasks; null when one of them has fewer trials than k. */
  value: number | null
  tasks: number
  tasksWithoutEnoughTrials: string[]
  interval: [number, number] | null
  /** `wilson_over_tasks`: where all tasks give 0, or all give 1, so that a bootstrap would say nothing. */
  method: 'bca' | 'percentile' | 'wilson_over_tasks' | 'none'
  scope: Scope
  reason?: NonNullable<BootstrapInterval['reason']> | 'too_few_trials' | 'no_tasks'
}

/**
 * `overTasks` of `passAtK` or `passHatK` with an interval by bootstrap over tasks. Trials that are null are missing and
 * do not count as trials.
 *
 * @example passInterval(passHatK, { a: [1, 1, 0], b: [1, 1, 1] }, 2)
 */
export function passInterval(
  estimator: (n: number, c: number, k: number) => Defined<CountReason>,
  trials: Readonly<Record<string, readonly (number | null)[]>>,
  k: number,
  options: BootstrapOptions = {},
): PassInterval {
  const scored = Object.fromEntries(
    Object.entries(trials).map(([task, scores]) => [task, scores.filter((score) => score !== null)]),
  )
  const found = overTasks(estimator, scored, k)
  const facts = { ...found, interval: null, method: 'none', scope: 'new tasks' } as const
  if (found.tasks === 0) return { ...facts, reason: 'no_tasks' }
  if (found.value === null) return { ...facts, reason: 'too_few_trials' }
  const values = Object.values(scored).map(
    (scores) => estimator(scores.length, scores.filter((score) => score === 1).length, k).value ?? Number.NaN,
  )
  const { interval, method, reason } = bootstrapInterval(
    values.map((value) => [value]),
    options,
  )
  if (interval !== null) return { ...facts, interval, method }
  const { mean: share } = mean(values)
  if (reason === 'no_spread' && (share === 0 || share === 1)) {
    const found = wilsonInterval(share * values.length, values.length, options.level)
    return { ...facts, interval: found, method: 'wilson_over_tasks' }
  }
  return { ...facts, reason: reason ?? 'no_spread' }
}
