import { bootstrapDraws, type DrawnFrom, drawnFrom } from './bootstrap-draws.ts'
import { clopperPearsonInterval } from './clopper-pearson.ts'
import { normalCdf, normalQuantile } from './normal.ts'
import { quantile } from './quantile.ts'
import { isLevel, type Scope } from './scope.ts'
import { wilsonInterval } from './wilson.ts'

export interface BootstrapOptions {
  level?: number
  /** Samples drawn; 10,000 when absent. At least 2 / (1 - level), at most ten million. */
  resamples?: number
  seed?: number
  /** `bca`, when absent: bias-corrected and accelerated. `percentile`: quantiles of the draws as they are. */
  method?: 'percentile' | 'bca'
  /** What stands in for an interval where every draw is the same and all scores are zeros and ones; `wilson` when absent. */
  fallback?: 'wilson' | 'clopper_pearson' | 'none'
}

export interface BootstrapInterval {
  /** Mean over all scores, each of weight one. */
  mean: number | null
  clusters: number
  /** Standard deviation of the draws. */
  stderr: number | null
  interval: [number, number] | null
  method: 'percentile' | 'bca' | 'none'
  level: number
  resamples: number
  seed: number
  scope: Scope
  /** An interval over the clusters, as if each were one trial, where the bootstrap has none since they do not differ. */
  fallback?: { interval: [number, number]; method: 'wilson' | 'clopper_pearson' }
  reason?:
    | 'no_scores'
    | 'single_cluster'
    | 'no_spread'
    | 'resamples_too_few'
    | 'resamples_too_many'
    | 'too_much_work'
    | 'too_large'
    | 'level_out_of_range'
}

/** Most draws, so that they fit in 80 MB: more would not move a bound by what anyone reads. */
export const bootstrapLimit = 10_000_000
/** Work that is done in one go, about a second; beyond it there is `bootstrapIntervalAsync`. In draws of a cluster. */
export const bootstrapWorkAtOnce = 200_000_000
/** What drawing once takes beside the draws of its clusters: a place, and its share in the sorting of all. */
const workOfADraw = 60
/** Draws of a cluster between two pauses: a few milliseconds. */
const slice = 500_000

/**
 * Bootstrap interval of a mean, drawing whole clusters (tasks with their repeats, or groups of tasks) with replacement.
 * Scores that are independent are clusters of one. Seeded: equal inputs give equal intervals.
 *
 * Below some twenty clusters a bootstrap is too narrow: prefer `clusteredMean` or `clusteredProportion` for plain means.
 * For what has no formula, such as pass^k over tasks, it is what there is.
 *
 * Source: Efron, "Better Bootstrap Confidence Intervals" (JASA 82, 1987).
 */
export function bootstrapInterval(
  clusters: Iterable<ArrayLike<number>>,
  options: BootstrapOptions = {},
): BootstrapInterval {
  const plan = planned(clusters, options)
  if ('refused' in plan) return plan.refused
  if (plan.resamples * (plan.data.sums.length + workOfADraw) > bootstrapWorkAtOnce) {
    return { ...plan.facts, reason: 'too_much_work' }
  }
  const drawn = bootstrapDraws(plan.data, plan).next()
  return drawn.done === true ? finished(plan, drawn.value) : { ...plan.facts, reason: 'too_much_work' }
}

/** `bootstrapInterval` that lets other work go on: it pauses every few milliseconds. Rejects with the reason of `signal`. */
export async function bootstrapIntervalAsync(
  clusters: Iterable<ArrayLike<number>>,
  options: BootstrapOptions & { signal?: AbortSignal } = {},
): Promise<BootstrapInterval> {
  const plan = planned(clusters, options)
  if ('refused' in plan) return plan.refused
  const draws = bootstrapDraws(plan.data, { ...plan, slice })
  for (;;) {
    const drawn = draws.next()
    if (drawn.done === true) return finished(plan, drawn.value)
    await new Promise<void>((resume) => setImmediate(resume))
    options.signal?.throwIfAborted()
  }
}

interface Plan {
  data: DrawnFrom
  mean: number
  method: 'percentile' | 'bca'
  resamples: number
  seed: number
  facts: BootstrapInterval
}

function planned(
  clusters: Iterable<ArrayLike<number>>,
  {
    level = 0.95,
    resamples = 10_000,
    seed = 1,
    method = 'bca',
    fallback: fallbackMethod = 'wilson',
  }: BootstrapOptions,
): Plan | { refused: BootstrapInterval } {
  const data = drawnFrom(clusters)
  const count = data.sums.length
  const n = data.sizes.reduce((sum, size) => sum + size, 0)
  const centre = n === 0 ? null : data.sums.reduce((sum, value) => sum + value, 0) / n
  // A sum of numbers near the largest there are is none itself.
  const mean = centre !== null && Number.isFinite(centre) ? centre : null
  const facts: BootstrapInterval = {
    mean,
    clusters: count,
    stderr: null,
    interval: null,
    method: 'none',
    level,
    resamples,
    seed,
    scope: 'new tasks',
  }
  if (!isLevel(level)) return { refused: { ...facts, reason: 'level_out_of_range' } }
  // With fewer draws the bounds would lie outside all of them.
  if (!(resamples >= 2 / (1 - level) - 1e-6)) return { refused: { ...facts, reason: 'resamples_too_few' } }
  if (resamples > bootstrapLimit) return { refused: { ...facts, reason: 'resamples_too_many' } }
  if (mean === null) return { refused: { ...facts, reason: n === 0 ? 'no_scores' : 'too_large' } }
  if (count === 1) return { refused: { ...facts, reason: 'single_cluster' } }
  const means = data.sums.map((sum, i) => sum / data.sizes[i]!)
  const largest = means.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
  const alike = means.every((one) => Math.abs(one - mean) <= 1e-12 * largest)
  if (alike) {
    const refused: BootstrapInterval = { ...facts, stderr: 0, reason: 'no_spread' }
    const interval = fallbackMethod === 'clopper_pearson' ? clopperPearsonInterval : wilsonInterval
    const found =
      data.binary && fallbackMethod !== 'none' ? interval(Math.round(mean * count), count, level) : null
    if (found !== null && fallbackMethod !== 'none')
      refused.fallback = { interval: found, method: fallbackMethod }
    return { refused }
  }
  return { data, mean, method, resamples: Math.floor(resamples), seed, facts }
}

function finished({ data, mean, method, facts }: Plan, draws: Float64Array): BootstrapInterval {
  draws.sort()
  const stderr = standardDeviation(draws)
  if (!Number.isFinite(stderr)) return { ...facts, reason: 'too_large' }
  const tails: [number, number] = [(1 - facts.level) / 2, (1 + facts.level) / 2]
  const adjusted = method === 'bca' ? bcaTails(draws, mean, acceleration(data), tails) : null
  const [low, high] = adjusted ?? tails
  return {
    ...facts,
    stderr,
    interval: [quantile(draws, low)!, quantile(draws, high)!],
    method: adjusted === null ? 'percentile' : 'bca',
  }
}

function standardDeviation(values: Float64Array): number {
  let centre = 0
  for (const value of values) centre += value / values.length
  let squares = 0
  for (const value of values) squares += (value - centre) ** 2
  return Math.sqrt(squares / (values.length - 1))
}

/** The quantiles of the draws that BCa reads instead of `tails`; null where the estimate lies outside all draws. */
export function bcaTails(
  sorted: Float64Array,
  estimate: number,
  acceleration: number,
  tails: readonly [number, number],
): [number, number] | null {
  const below = placeOf(sorted, estimate, false)
  const upTo = placeOf(sorted, estimate, true)
  // Draws that equal the estimate, up to rounding, count as half below it.
  const bias = normalQuantile((below + upTo) / (2 * sorted.length))
  if (!Number.isFinite(bias)) return null
  const tail = (share: number) => {
    const moved = bias + normalQuantile(share)
    return normalCdf(bias + moved / (1 - acceleration * moved))
  }
  return [tail(tails[0]), tail(tails[1])]
}

/** How many sorted values are below a number, or below or equal to it, give or take rounding. */
function placeOf(sorted: Float64Array, value: number, withEqual: boolean): number {
  const slack = 1e-12 * Math.max(1, Math.abs(value))
  const bound = withEqual ? value + slack : value - slack
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

/** Efron's acceleration, from the means that leave out one cluster each. */
function acceleration({ sizes, sums }: DrawnFrom): number {
  const n = sizes.reduce((sum, size) => sum + size, 0)
  const total = sums.reduce((sum, value) => sum + value, 0)
  const left = sums.map((sum, i) => (total - sum) / (n - sizes[i]!))
  const centre = left.reduce((sum, value) => sum + value, 0) / left.length
  let squares = 0
  let cubes = 0
  for (const value of left) {
    squares += (centre - value) ** 2
    cubes += (centre - value) ** 3
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5)
}
