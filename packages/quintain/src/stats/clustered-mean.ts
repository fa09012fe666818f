import { RunningMean } from './mean.ts'
import { isLevel, type Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'

export interface ClusteredMean {
  /** Mean over all scores, each of weight one. */
  mean: number | null
  n: number
  /** Clusters with at least one score. */
  clusters: number
  /** Null below two clusters: one cluster says nothing of how clusters differ. */
  stderr: number | null
  /** What the standard error would be were all scores independent; for comparison. */
  naiveStderr: number | null
  /** t interval with clusters - 1 degrees of freedom. */
  interval: [number, number] | null
  scope: Scope
  reason?: 'no_scores' | 'single_cluster' | 'too_large' | 'level_out_of_range'
}

export interface ClusteredMeanOptions {
  level?: number
  /** Small-sample factor of the variance: `C/(C-1)`, or none. */
  correction?: 'C/(C-1)' | 'none'
}

/**
 * Mean with a cluster-robust standard error: sqrt( sum over clusters of (sum of deviations)^2 ) / n.
 *
 * The clusters are what was sampled independently, usually the tasks; their repeats are not.
 * Source: Miller, "Adding Error Bars to Evals" (arXiv 2411.00640), appendix A.
 */
export function clusteredMean(
  clusters: Iterable<readonly number[]>,
  { level = 0.95, correction = 'C/(C-1)' }: ClusteredMeanOptions = {},
): ClusteredMean {
  // Of each cluster its size and sum are enough, so that a hundred thousand scores need no copies.
  const sizes: number[] = []
  const sums: number[] = []
  const running = new RunningMean()
  let spread = 0
  let centreSoFar = 0
  for (const cluster of clusters) {
    let size = 0
    let sum = 0
    for (const score of cluster) {
      if (!Number.isFinite(score)) continue
      running.add(score)
      size++
      sum += score
      // Welford's update of the sum of squared deviations.
      const step = score - centreSoFar
      centreSoFar += step / running.n
      spread += step * (score - centreSoFar)
    }
    if (size === 0) continue
    sizes.push(size)
    sums.push(sum)
  }
  const { mean: centre, n } = running
  const count = sizes.length
  const missing = { stderr: null, interval: null, scope: 'new tasks' } as const
  if (centre === null) {
    return { mean: null, n, clusters: 0, naiveStderr: null, ...missing, reason: 'no_scores' }
  }
  const naive = n < 2 ? null : Math.sqrt(spread / (n - 1) / n)
  const naiveStderr = naive !== null && Number.isFinite(naive) ? naive : null
  if (count === 1) {
    return { mean: centre, n, clusters: 1, naiveStderr, ...missing, reason: 'single_cluster' }
  }
  let squares = 0
  for (let i = 0; i < count; i++) squares += (sums[i]! - sizes[i]! * centre) ** 2
  const factor = correction === 'none' ? 1 : count / (count - 1)
  const stderr = Math.sqrt(squares * factor) / n
  // Squares of scores above 10^150 or so are too large for a number.
  if (!Number.isFinite(stderr)) {
    return { mean: centre, n, clusters: count, naiveStderr: null, ...missing, reason: 'too_large' }
  }
  const found = { ...missing, mean: centre, n, clusters: count, stderr, naiveStderr }
  if (!isLevel(level)) return { ...found, reason: 'level_out_of_range' }
  const half = studentTQuantile((1 + level) / 2, count - 1) * stderr
  return { ...found, interval: [centre - half, centre + half] }
}
