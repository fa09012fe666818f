import { clusteredMean } from './clustered-mean.ts'
import { isLevel, type Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'
import { wilsonInterval } from './wilson.ts'

export interface ClusteredProportion {
  mean: number | null
  n: number
  clusters: number
  stderr: number | null
  interval: [number, number] | null
  method: 'wilson' | 'wilson_effective_n' | 'wilson_over_clusters' | 'none'
  scope: Scope
  reason?: 'no_scores' | 'single_cluster' | 'too_large' | 'level_out_of_range'
}

/**
 * A proportion of zeros and ones that come in clusters (repeats of tasks).
 *
 * One score in each cluster: Wilson's interval. Several: Wilson's interval at the effective sample size
 * p(1-p)/SE^2 with the clustered SE and a t quantile, which stays inside [0, 1] and does not collapse (Korn and
 * Graubard's idea with Wilson's interval for the exact one). When the clusters do not differ, so that the SE is
 * zero: Wilson over the clusters, as if each were one trial.
 */
export function clusteredProportion(
  clusters: Iterable<readonly number[]>,
  level = 0.95,
): ClusteredProportion {
  const { mean, n, clusters: count, stderr, scope, reason } = clusteredMean(clusters, { level })
  if (mean === null || stderr === null) {
    return {
      mean,
      n,
      clusters: count,
      stderr,
      interval: null,
      method: 'none',
      scope,
      reason: reason ?? 'single_cluster',
    }
  }
  const found = { mean, n, clusters: count, stderr, scope }
  if (!isLevel(level)) return { ...found, interval: null, method: 'none', reason: 'level_out_of_range' }
  if (n === count) return { ...found, interval: wilsonInterval(mean * n, n, level), method: 'wilson' }
  if (stderr < 1e-12) {
    return { ...found, interval: wilsonInterval(mean * count, count, level), method: 'wilson_over_clusters' }
  }
  // An SE below that of independent trials is luck of few clusters, not information.
  const effective = Math.min(n, (mean * (1 - mean)) / (stderr * stderr))
  const critical = studentTQuantile((1 + level) / 2, count - 1)
  return {
    ...found,
    interval: wilsonInterval(mean * effective, effective, level, critical),
    method: 'wilson_effective_n',
  }
}
