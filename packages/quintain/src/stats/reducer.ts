import { mean } from './mean.ts'
import { passAtK } from './pass-at-k.ts'
import { passHatK } from './pass-hat-k.ts'
import { quantile } from './quantile.ts'

/** How the repeats of a task become its one number. `pass_at_K` and `pass_hat_K` take a whole number for K, as `pass_at_2`. */
export type Reducer = 'mean' | 'median' | 'max' | 'min' | `pass_at_${number}` | `pass_hat_${number}`

const counted = /^(pass_at|pass_hat)_([1-9]\d*)$/

/** A reducer by its name; null for a name that is none. */
export function reducerNamed(name: string): Reducer | null {
  if (name === 'mean' || name === 'median' || name === 'max' || name === 'min') return name
  const [, kind, k] = counted.exec(name) ?? []
  if (kind === undefined) return null
  return kind === 'pass_at' ? `pass_at_${Number(k)}` : `pass_hat_${Number(k)}`
}

/** The repeats that a reducer needs of every task. */
export function repeatsNeeded(reducer: Reducer): number {
  return Number(counted.exec(reducer)?.[2] ?? 1)
}

/**
 * The number of a task from the scores of its repeats; null with the reason where there is none. Scores that are null
 * are missing. For `pass_at_K` and `pass_hat_K` a success is a score of 1, and fewer than K repeats give no number.
 */
export function reduceRepeats(
  reducer: Reducer,
  scores: readonly (number | null)[],
): { value: number } | { value: null; reason: 'no_scores' | 'k_exceeds_n' } {
  const finite = scores.filter((score): score is number => score !== null && Number.isFinite(score))
  if (finite.length === 0) return { value: null, reason: 'no_scores' }
  const sorted = () => finite.toSorted((a, b) => a - b)
  switch (reducer) {
    case 'mean':
      return { value: mean(finite).mean ?? 0 }
    case 'median':
      return { value: quantile(sorted(), 0.5) ?? 0 }
    case 'max':
      return { value: Math.max(...finite) }
    case 'min':
      return { value: Math.min(...finite) }
    default: {
      const estimator = reducer.startsWith('pass_at') ? passAtK : passHatK
      const successes = finite.filter((score) => score === 1).length
      const { value } = estimator(finite.length, successes, repeatsNeeded(reducer))
      return value === null ? { value, reason: 'k_exceeds_n' } : { value }
    }
  }
}

/**
 * What a run repeats and how it reduces, when somebody asks for another number of repeats than the taskset declares:
 * the number changes and the reducer stays. `short` says that the reducer then has too few repeats for a number.
 */
export function withRepeats(
  declared: { repeats: number; reducer: Reducer },
  repeats: number = declared.repeats,
): { repeats: number; reducer: Reducer; short: boolean } {
  return { repeats, reducer: declared.reducer, short: repeats < repeatsNeeded(declared.reducer) }
}
