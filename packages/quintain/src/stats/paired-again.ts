import { pairScores, type TaskScore } from './pair-scores.ts'
import { isLevel, type Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'

export interface PairedAgain {
  pairs: number
  /** Mean of a - b over the pairs, each of weight one. */
  difference: number | null
  stderr: number | null
  interval: [number, number] | null
  scope: Scope
  reason?: 'no_pairs' | 'single_repeats' | 'no_spread' | 'too_large' | 'level_out_of_range'
}

/**
 * How a paired difference would move if *these very tasks* were run again by both sides: only the spread of the repeats
 * counts. Var = sum over tasks of (s_a^2 / K_a + s_b^2 / K_b), over n^2; a t interval whose degrees of freedom are
 * Satterthwaite's. Needs two scores of every task on both sides; repeats that all agree give no interval, since that is
 * no proof that the next would.
 */
export function pairedAgain(
  a: ReadonlyMap<string, TaskScore>,
  b: ReadonlyMap<string, TaskScore>,
  level = 0.95,
): PairedAgain {
  const { pairs } = pairScores(a, b)
  const none = { pairs: pairs.length, stderr: null, interval: null, scope: 'these tasks again' } as const
  if (pairs.length === 0) return { ...none, difference: null, reason: 'no_pairs' }
  let sum = 0
  let variance = 0
  const spreads: { variance: number; freedom: number }[] = []
  let single = false
  for (const pair of pairs) {
    sum += pair.a - pair.b
    for (const score of [a.get(pair.id), b.get(pair.id)]) {
      const spread = spreadOfMean(score ?? null)
      if (spread === null) {
        single = true
        continue
      }
      variance += spread.variance
      spreads.push(spread)
    }
  }
  const difference = sum / pairs.length
  if (!Number.isFinite(difference)) return { ...none, difference: null, reason: 'too_large' }
  if (single) return { ...none, difference, reason: 'single_repeats' }
  const stderr = Math.sqrt(variance) / pairs.length
  if (!Number.isFinite(stderr)) return { ...none, difference, reason: 'too_large' }
  const found = { ...none, difference, stderr }
  if (stderr === 0) return { ...found, reason: 'no_spread' }
  if (!isLevel(level)) return { ...found, reason: 'level_out_of_range' }
  // By shares of the whole, which do not underflow where rewards are tiny.
  const squares = spreads.reduce((total, one) => total + (one.variance / variance) ** 2 / one.freedom, 0)
  const half = studentTQuantile((1 + level) / 2, 1 / squares) * stderr
  return { ...found, interval: [difference - half, difference + half] }
}

/** Variance of the mean of a task's repeats, and its degrees of freedom; null below two scores. */
function spreadOfMean(score: TaskScore): { variance: number; freedom: number } | null {
  if (score === null || typeof score === 'number') return null
  let n = 0
  let centre = 0
  let squares = 0
  for (const one of score) {
    if (one === null || !Number.isFinite(one)) continue
    n++
    const step = one - centre
    centre += step / n
    squares += step * (one - centre)
  }
  return n < 2 ? null : { variance: squares / (n - 1) / n, freedom: n - 1 }
}
