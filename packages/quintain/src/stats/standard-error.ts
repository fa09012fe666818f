import { mean } from './mean.ts'
import { isLevel, type Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'

export interface StandardError {
  mean: number | null
  n: number
  /** sd / sqrt(n) with n - 1 in the variance; null below two scores. */
  stderr: number | null
  /** t interval with n - 1 degrees of freedom; null where `stderr` is. */
  interval: [number, number] | null
  scope: Scope
  reason?: 'no_scores' | 'single_score' | 'too_large' | 'level_out_of_range'
}

/** Standard error of the mean of independent scores. Repeats of a task are not independent: see `clusteredMean`. */
export function standardError(scores: readonly number[], level = 0.95): StandardError {
  const { mean: centre, n } = mean(scores)
  const missing = { stderr: null, interval: null, scope: 'new tasks' } as const
  if (centre === null) return { mean: null, n, ...missing, reason: 'no_scores' }
  if (n === 1) return { mean: centre, n, ...missing, reason: 'single_score' }
  let squares = 0
  for (const score of scores) if (Number.isFinite(score)) squares += (score - centre) ** 2
  const stderr = Math.sqrt(squares / (n - 1) / n)
  // Squares of scores above 10^150 or so are too large for a number.
  if (!Number.isFinite(stderr)) return { ...missing, mean: centre, n, reason: 'too_large' }
  const found = { ...missing, mean: centre, n, stderr }
  if (!isLevel(level)) return { ...found, reason: 'level_out_of_range' }
  const half = studentTQuantile((1 + level) / 2, n - 1) * stderr
  return { ...found, interval: [centre - half, centre + half] }
}
