import { mean } from './mean.ts'
import { standardError } from './standard-error.ts'
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
  reason?: 'no_scores' | 'single_cluster'
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
  const groups: number[][] = []
  for (const cluster of clusters) {
    const finite = cluster.filter(Number.isFinite)
    if (finite.length > 0) groups.push(finite)
  }
  const all = groups.flat()
  const { mean: centre, n } = mean(all)
  const count = groups.length
  if (centre === null) {
    return {
      mean: null,
      n,
      clusters: 0,
      stderr: null,
      naiveStderr: null,
      interval: null,
      reason: 'no_scores',
    }
  }
  const naiveStderr = standardError(all, level).stderr
  if (count === 1) {
    return {
      mean: centre,
      n,
      clusters: 1,
      stderr: null,
      naiveStderr,
      interval: null,
      reason: 'single_cluster',
    }
  }
  let squares = 0
  for (const group of groups) {
    let deviation = 0
    for (const score of group) deviation += score - centre
    squares += deviation * deviation
  }
  const factor = correction === 'none' ? 1 : count / (count - 1)
  const stderr = Math.sqrt(squares * factor) / n
  const half = studentTQuantile((1 + level) / 2, count - 1) * stderr
  return { mean: centre, n, clusters: count, stderr, naiveStderr, interval: [centre - half, centre + half] }
}
