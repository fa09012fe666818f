import type { Tolerance } from '../number-value.ts'
import type { PercentPolicy, UnitPolicy } from '../numeric-match.ts'

/** How answers are compared. Store it with the score: another policy is another score. */
export interface MathPolicy {
  /** `value` when absent. */
  percent?: PercentPolicy
  /** `optional` when absent. */
  units?: UnitPolicy
  /** A relation (`1 < x < 7.5`) is the set of its solutions, on either side. Off when absent. */
  relationsAsSets?: boolean
  /** The order of a list is part of the answer, and a list is no tuple. Off when absent. Names of variables always are part of it. */
  strict?: boolean
  /** None when absent: answers are equal when their exact values are. */
  tolerance?: Tolerance
  /** Wall clock of one comparison in milliseconds; 1,000 when absent. */
  deadlineMs?: number
}

/**
 * Why two answers are not known to be equal. With `different` and `no_answer` the verdict is false; with all others `equal`
 * is null: nobody knows.
 */
export type MathReason =
  | 'different'
  | 'no_answer'
  /** The answer cannot be read as mathematics, and is not the same text. */
  | 'unreadable_answer'
  | 'invalid_gold'
  /** Both were read, and neither equality nor difference could be shown. */
  | 'undecided'
  /** Too large to compute: a tower of powers, a factorial, nesting beyond the limits. */
  | 'too_large'
  | 'deadline'

export interface MathVerdict {
  /** Null: it cannot be decided. That is no match, and no proof of a wrong answer. */
  equal: boolean | null
  reason?: MathReason
  policy: MathPolicy
}
