import { mean } from './mean.ts'
import { studentTQuantile } from './student-t.ts'

export interface StandardError {
  mean: number | null
  n: number
  /** sd / sqrt(n) with n - 1 in the variance; null below two scores. */
  stderr: number | null
  /** t interval with n - 1 degrees of freedom; null where `stderr` is. */
  interval: [number, number] | null
  reason?: 'no_scores' | 'single_score'
}

/** Standard error of the mean of independent scores. Repeats of a task are not independent: see `clusteredMean`. */
export function standardError(scores: readonly number[], level = 0.95): StandardError {
  const { mean: centre, n } = mean(scores)
  if (centre === null) return { mean: null, n, stderr: null, interval: null, reason: 'no_scores' }
  if (n === 1) return { mean: centre, n, stderr: null, interval: null, reason: 'single_score' }
  let squares = 0
  for (const score of scores) if (Number.isFinite(score)) squares += (score - centre) ** 2
  const stderr = Math.sqrt(squares / (n - 1) / n)
  const half = studentTQuantile((1 + level) / 2, n - 1) * stderr
  return { mean: centre, n, stderr, interval: [centre - half, centre + half] }
}
