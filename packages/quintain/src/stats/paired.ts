import { clusteredMean } from './clustered-mean.ts'
import { normalQuantile } from './normal.ts'
import { isBinary, type Pair, pairScores, type TaskScore } from './pair-scores.ts'
import { isLevel, type Scope } from './scope.ts'
import { type SignFlipOptions, signFlips } from './sign-flips.ts'

export interface Paired {
  /** Tasks with a score on both sides. */
  pairs: number
  /** Independent groups of them: the pairs themselves unless `clusters` was given. */
  clusters: number
  /** Mean of a - b over the pairs, each of weight one; null without any. */
  difference: number | null
  /** Clustered, with the factor C/(C-1); null below two clusters. */
  stderr: number | null
  interval: [number, number] | null
  /**
   * `t`: Student's t with clusters - 1 degrees of freedom. `bonett_price`: where every task gives -1, 0 or 1, or the
   * differences do not differ though their range is known; does not collapse.
   */
  intervalMethod: 't' | 'bonett_price' | 'none'
  scope: Scope
  /**
   * Two-sided, by flipping the signs of the clusters' differences; in (0, 1], null below two clusters. Of "the two play
   * alike"; a claim about the mean of differences that may be skewed is tested by `boundedMeanTest`.
   */
  p: number | null
  /** Over all sign patterns, or (1 + as extreme) / (1 + draws) of random ones. */
  pMethod: 'sign_flip_exact' | 'sign_flip_sampled' | 'none'
  /** Pairs in which a is higher, equal, lower. */
  higher: number
  equal: number
  lower: number
  /** Ids without a partner, or whose partner has no score, in order of first appearance. */
  dropped: string[]
  reason?: 'no_pairs' | 'single_pair' | 'single_cluster' | 'no_spread' | 'too_large' | 'level_out_of_range'
}

export interface PairedOptions extends SignFlipOptions {
  level?: number
  /** Task id to the group it was sampled in (a repository, a passage); a task that is not named is a group of its own. */
  clusters?: ReadonlyMap<string, string>
  /** Lowest and highest score there can be; [0, 1] when absent and every score is a zero or a one. */
  range?: readonly [number, number]
}

/**
 * Compares two sets of scores task by task. A score is a task's number, or its repeats, whose mean is taken; a null is
 * missing, not zero. Speaks of new tasks: the spread between tasks is in the interval and in p. What is missing is left
 * out and named; how far it could move the difference is said by `pairedBounds`.
 *
 * Sources: Miller, "Adding Error Bars to Evals" (arXiv 2411.00640), for the pairing and the clusters; Bonett and Price,
 * "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data" (JEBS 37, 2012).
 */
export function pairedDifference(
  a: ReadonlyMap<string, TaskScore>,
  b: ReadonlyMap<string, TaskScore>,
  options: PairedOptions = {},
): Paired {
  const { level = 0.95, clusters: groups } = options
  const { pairs, dropped } = pairScores(a, b)
  const byCluster = clusterDifferences(pairs, groups)
  const higher = pairs.filter((pair) => pair.a > pair.b).length
  const lower = pairs.filter((pair) => pair.a < pair.b).length
  const found = clusteredMean(byCluster, { level: isLevel(level) ? level : 0.95 })
  const facts = {
    pairs: pairs.length,
    clusters: byCluster.length,
    difference: found.mean,
    stderr: found.stderr,
    scope: 'new tasks',
    higher,
    equal: pairs.length - higher - lower,
    lower,
    dropped,
  } as const
  const none = { interval: null, intervalMethod: 'none' } as const
  const untested = { p: null, pMethod: 'none' } as const
  if (byCluster.flat().some((value) => !Number.isFinite(value)))
    return { ...facts, ...none, ...untested, difference: null, stderr: null, reason: 'too_large' }
  if (found.mean === null) return { ...facts, ...none, ...untested, reason: 'no_pairs' }
  if (found.reason !== 'too_large' && found.stderr === null) {
    const reason = pairs.length === 1 ? 'single_pair' : 'single_cluster'
    return { ...facts, ...none, ...untested, reason }
  }
  const flips = signFlips(
    byCluster.map((differences) => differences.reduce((sum, value) => sum + value, 0)),
    options,
  )
  const tested = {
    p: flips.p,
    pMethod: flips.method === 'exact' ? 'sign_flip_exact' : 'sign_flip_sampled',
  } as const
  if (!isLevel(level)) return { ...facts, ...none, ...tested, reason: 'level_out_of_range' }
  if (found.stderr === null) return { ...facts, ...none, ...tested, reason: 'too_large' }

  const range = options.range ?? (isBinary(a) && isBinary(b) ? [0, 1] : undefined)
  const width = range === undefined ? Number.NaN : range[1] - range[0]
  const means = byCluster.map(
    (differences) => differences.reduce((sum, value) => sum + value, 0) / differences.length,
  )
  const largest = pairs.reduce((most, pair) => Math.max(most, Math.abs(pair.a), Math.abs(pair.b)), 0)
  const alike = found.stderr <= 1e-12 * largest
  const whole =
    byCluster.length === pairs.length && means.every((mean) => mean === 0 || Math.abs(mean) === width)
  if (width > 0 && (alike || whole)) {
    return { ...facts, ...tested, interval: bonettPrice(means, width, level), intervalMethod: 'bonett_price' }
  }
  if (alike || found.interval === null) return { ...facts, ...none, ...tested, reason: 'no_spread' }
  const [low, high] = found.interval
  const interval: [number, number] = width > 0 ? [Math.max(-width, low), Math.min(width, high)] : [low, high]
  return { ...facts, ...tested, interval, intervalMethod: 't' }
}

function clusterDifferences(pairs: readonly Pair[], groups?: ReadonlyMap<string, string>): number[][] {
  if (groups === undefined) return pairs.map((pair) => [pair.a - pair.b])
  const clusters = new Map<string, number[]>()
  for (const { id, a, b } of pairs) {
    const group = groups.get(id)
    const key = group === undefined ? `task ${id}` : `group ${group}`
    const differences = clusters.get(key)
    if (differences === undefined) clusters.set(key, [a - b])
    else differences.push(a - b)
  }
  return [...clusters.values()]
}

/**
 * The adjusted Wald interval: two pairs are added, one that differs by all it can either way. For differences of
 * -width, 0 and width it is Bonett and Price's; for others that lie in that range it errs on the wide side.
 */
function bonettPrice(differences: readonly number[], width: number, level: number): [number, number] {
  const n = differences.length + 2
  let sum = 0
  let squares = 2 * width * width
  for (const value of differences) {
    sum += value
    squares += value * value
  }
  const centre = sum / n
  const half = normalQuantile((1 + level) / 2) * Math.sqrt(Math.max(0, squares / n - centre * centre) / n)
  return [Math.max(-width, centre - half), Math.min(width, centre + half)]
}
