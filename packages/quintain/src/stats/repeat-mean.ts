import { mean } from './mean.ts'
import { normalQuantile } from './normal.ts'
import { studentTQuantile } from './student-t.ts'

export interface RepeatMean {
  mean: number | null
  n: number
  stderr: number | null
  interval: [number, number] | null
  reason?: 'no_scores' | 'single_repeats' | 'no_spread'
}

/**
 * How the mean would move if *these very tasks* were run again: only the spread inside tasks counts.
 *
 * Var = sum over tasks of n_i * s_i^2, over n^2, where s_i^2 is the variance inside task i (n_i - 1 below).
 * Needs two scores in every task that has any. No spread inside any task gives no interval: with few repeats that is
 * no proof that there is none.
 */
export function repeatMean(tasks: Iterable<readonly number[]>, level = 0.95): RepeatMean {
  let variance = 0
  let freedom = 0
  let single = false
  const all: number[] = []
  for (const task of tasks) {
    const scores = task.filter(Number.isFinite)
    if (scores.length === 0) continue
    all.push(...scores)
    if (scores.length === 1) {
      single = true
      continue
    }
    const centre = mean(scores).mean ?? 0
    let squares = 0
    for (const score of scores) squares += (score - centre) ** 2
    variance += (scores.length * squares) / (scores.length - 1)
    freedom += scores.length - 1
  }
  const { mean: centre, n } = mean(all)
  if (centre === null) return { mean: null, n, stderr: null, interval: null, reason: 'no_scores' }
  if (single) return { mean: centre, n, stderr: null, interval: null, reason: 'single_repeats' }
  const stderr = Math.sqrt(variance) / n
  if (stderr === 0) return { mean: centre, n, stderr, interval: null, reason: 'no_spread' }
  const p = (1 + level) / 2
  // Tasks without spread carry no information on it, but the pooled count is the usual choice; it matters below 30 only.
  const half = (freedom < 200 ? studentTQuantile(p, freedom) : normalQuantile(p)) * stderr
  return { mean: centre, n, stderr, interval: [centre - half, centre + half] }
}
