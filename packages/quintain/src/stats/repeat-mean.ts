import { RunningMean } from './mean.ts'
import { normalQuantile } from './normal.ts'
import { isLevel, type Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'

export interface RepeatMean {
  mean: number | null
  n: number
  stderr: number | null
  interval: [number, number] | null
  scope: Scope
  reason?: 'no_scores' | 'single_repeats' | 'no_spread' | 'too_large' | 'level_out_of_range'
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
  const running = new RunningMean()
  for (const task of tasks) {
    let size = 0
    let centre = 0
    let squares = 0
    for (const score of task) {
      if (!Number.isFinite(score)) continue
      running.add(score)
      size++
      const step = score - centre
      centre += step / size
      squares += step * (score - centre)
    }
    if (size === 1) single = true
    if (size < 2) continue
    variance += (size * squares) / (size - 1)
    freedom += size - 1
  }
  const { mean: centre, n } = running
  const found = { mean: centre, n, stderr: null, interval: null, scope: 'these tasks again' } as const
  if (centre === null) return { ...found, reason: 'no_scores' }
  if (single) return { ...found, reason: 'single_repeats' }
  const stderr = Math.sqrt(variance) / n
  if (!Number.isFinite(stderr)) return { ...found, reason: 'too_large' }
  if (stderr === 0) return { ...found, stderr, reason: 'no_spread' }
  if (!isLevel(level)) return { ...found, stderr, reason: 'level_out_of_range' }
  const p = (1 + level) / 2
  // Tasks without spread carry no information on it, but the pooled count is the usual choice; it matters below 30 only.
  const half = (freedom < 200 ? studentTQuantile(p, freedom) : normalQuantile(p)) * stderr
  return { ...found, stderr, interval: [centre - half, centre + half] }
}
