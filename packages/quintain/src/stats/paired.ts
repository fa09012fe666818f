import { signFlipTest } from './sign-flip-test.ts'
import { standardError } from './standard-error.ts'
import { studentTCdf } from './student-t.ts'

export interface Paired {
  /** Ids with a score on both sides. */
  pairs: number
  /** Mean of a - b over the pairs; null without any. */
  difference: number | null
  stderr: number | null
  /** t interval with pairs - 1 degrees of freedom; null below two pairs, and when no pair differs from another. */
  interval: [number, number] | null
  /** Two-sided: exact sign flips for up to 20 differing pairs, Student's t above. */
  p: number | null
  pMethod: 'sign_flip_exact' | 't' | 'none'
  /** Pairs in which a is higher, equal, lower. */
  higher: number
  equal: number
  lower: number
  /** Ids without a partner, or whose partner has no score, in order of first appearance. */
  dropped: string[]
  reason?: 'no_pairs' | 'single_pair' | 'no_spread'
}

/** Compares two sets of scores by id, usually task id to mean score of the task. A null score is a missing one. */
export function pairedDifference(
  a: ReadonlyMap<string, number | null>,
  b: ReadonlyMap<string, number | null>,
  level = 0.95,
): Paired {
  const differences: number[] = []
  const dropped: string[] = []
  let higher = 0
  let lower = 0
  for (const [id, left] of a) {
    const right = b.get(id)
    if (left === null || right === null || right === undefined || !Number.isFinite(left - right)) {
      dropped.push(id)
      continue
    }
    differences.push(left - right)
    if (left > right) higher++
    else if (left < right) lower++
  }
  for (const id of b.keys()) if (!a.has(id)) dropped.push(id)
  const pairs = differences.length
  const counts = { pairs, higher, equal: pairs - higher - lower, lower, dropped }
  if (pairs === 0) {
    return {
      ...counts,
      difference: null,
      stderr: null,
      interval: null,
      p: null,
      pMethod: 'none',
      reason: 'no_pairs',
    }
  }
  const { mean, stderr, interval } = standardError(differences, level)
  if (stderr === null || mean === null) {
    return {
      ...counts,
      difference: mean,
      stderr: null,
      interval: null,
      p: null,
      pMethod: 'none',
      reason: 'single_pair',
    }
  }
  const exact = signFlipTest(differences)
  const p = exact ?? (stderr === 0 ? null : 2 * studentTCdf(-Math.abs(mean / stderr), pairs - 1))
  const pMethod = exact !== null ? 'sign_flip_exact' : p === null ? 'none' : 't'
  if (stderr === 0) {
    return { ...counts, difference: mean, stderr, interval: null, p, pMethod, reason: 'no_spread' }
  }
  return { ...counts, difference: mean, stderr, interval, p, pMethod }
}
