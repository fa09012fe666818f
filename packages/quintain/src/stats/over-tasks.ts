import { mean } from './mean.ts'
import type { CountReason, Defined } from './pass-at-k.ts'

export interface OverTasks {
  /** Mean over all tasks; null when one of them has no value, since leaving it out would change the question. */
  value: number | null
  tasks: number
  /** Tasks with fewer trials than k. */
  tasksWithoutEnoughTrials: string[]
}

/**
 * An estimator of one task's trials (`passAtK`, `passHatK`), averaged over tasks. A trial is a success when it is 1; one
 * that is null was not scored, and is no trial.
 *
 * @example overTasks(passHatK, { a: [1, 1, 0], b: [1, 1, 1] }, 2)
 */
export function overTasks(
  estimator: (n: number, c: number, k: number) => Defined<CountReason>,
  trials: Readonly<Record<string, readonly (number | null)[]>>,
  k: number,
): OverTasks {
  const names = Object.keys(trials)
  const tasksWithoutEnoughTrials: string[] = []
  const values: number[] = []
  let undefinedTask = false
  for (const name of names) {
    const scores = (trials[name] ?? []).filter((score) => score !== null)
    const found = estimator(scores.length, scores.filter((score) => score === 1).length, k)
    if (found.value === null) {
      undefinedTask = true
      if (found.reason === 'k_exceeds_n') tasksWithoutEnoughTrials.push(name)
    } else values.push(found.value)
  }
  return { value: undefinedTask ? null : mean(values).mean, tasks: names.length, tasksWithoutEnoughTrials }
}
