import { clusteredMean, clusteredProportion, RunningMean, repeatMean, type Scope } from '../stats/index.ts'

/** Why an estimate has no value, or no interval. */
export type EstimateReason =
  /** Fewer orders were scored than the declared minimum; see `observed` and `bounds`. */
  | 'below_coverage'
  | 'nothing_scored'
  | 'nothing_ordered'
  /** The environment does not say what success is. */
  | 'not_declared'
  /** One task says nothing of how tasks differ. */
  | 'single_task'
  /** All values are equal; that is no proof that all others would be. */
  | 'no_spread'
  /** Some task has a single scored attempt, so its spread under repetition is unknown. */
  | 'single_repeats'
  /** The attempts at each task all came to the same; that is no proof that the next would. */
  | 'repeats_agree'
  /** The scores are too large for their spread to be a number. */
  | 'too_large'

/** What an interval speaks of: tasks that were never seen, drawn as these were, or these very tasks run again. */
export type EstimateScope = Scope

/** A number with everything that is needed to believe it. */
export interface Estimate {
  /** The headline; null below the declared coverage, and `reason` says so. */
  value: number | null
  /** Orders with a score, of `planned` orders. */
  n: number
  planned: number
  /** Tasks with a score, and tasks planned. */
  tasks: { scored: number; planned: number }
  interval: [number, number] | null
  level: 0.95
  /** The interval's method in words. */
  method: string
  scope: EstimateScope
  reason?: EstimateReason
  /** Mean of what was scored, whatever the coverage. Not a headline. */
  observed: number | null
  /** The mean if everything missing had failed, and if it had succeeded; null where scores have no declared range. */
  bounds: [number, number] | null
}

/**
 * An estimate of a rate. Its interval always exists: where nothing is known it is [0, 1], with `method` `none`,
 * so that a test on its lower end fails instead of crashing.
 */
export type RateEstimate = Estimate & { interval: [number, number] }

export interface EstimateOptions {
  /** Share of the orders that must be scored for a headline; 1 when absent. */
  minCoverage?: number
  scope?: EstimateScope
  /** Orders that were placed and can no longer be read, of which not even the task is known. */
  lost?: number
  /** The most that a score can be, where it is known: scores that are all 0 or all 1 are a rate only then. */
  largest?: number | undefined
}

/** The most that a reward can be whose parts are from 0 to 1; undefined where a part counts against it. */
export function largestReward(rewards: Readonly<Record<string, { weight: number }>>): number | undefined {
  const weights = Object.values(rewards).map(({ weight }) => weight)
  return weights.some((weight) => weight < 0) ? undefined : weights.reduce((sum, weight) => sum + weight, 0)
}

/** Scores of the orders of each task: a number for each that was scored, NaN for the rest. */
export type TaskScores = Iterable<ArrayLike<number>>

interface Method {
  interval: [number, number] | null
  method: string
  reason?: EstimateReason
}

const level = 0.95

type Groups = Iterable<readonly number[]>

/** True where nothing but zeros and ones was seen. */
function isBinary(groups: Groups): boolean {
  for (const group of groups) if (group.some((score) => score !== 0 && score !== 1)) return false
  return true
}

function largestOf(groups: Groups): number {
  let largest = 0
  for (const group of groups) for (const score of group) largest = Math.max(largest, Math.abs(score))
  return largest
}

function proportionOfNewTasks(groups: Groups): Method {
  const found = clusteredProportion(groups, level)
  const words = {
    wilson: 'Wilson',
    wilson_effective_n: 'Wilson at the effective n, clustered by task',
    wilson_over_clusters: 'Wilson over tasks, which are all alike',
    none: 'none',
  }
  return {
    interval: found.interval,
    method: words[found.method],
    ...(found.interval === null ? { reason: 'single_task' } : {}),
  }
}

/** Whether scores that are all zero, or all one, say that there is nothing between and beyond. */
function sawBoth(groups: Groups): boolean {
  const seen = new Set<number>()
  for (const group of groups) for (const score of group) if (seen.add(score).size > 1) return true
  return false
}

function meanOfNewTasks(groups: Groups, largest: number | undefined): Method {
  // A reward that is zero or one wherever it was seen is a rate, and a t interval of a rate is poor below a few hundred.
  if (isBinary(groups) && (largest === 1 || sawBoth(groups))) return proportionOfNewTasks(groups)
  const found = clusteredMean(groups, { level })
  if (found.interval === null) {
    const reason = found.reason === 'too_large' ? 'too_large' : 'single_task'
    return { interval: null, method: 'none', reason }
  }
  if (found.stderr !== null && found.stderr <= 1e-12 * largestOf(groups)) {
    return { interval: null, method: 'none', reason: 'no_spread' }
  }
  const single = found.n === found.clusters
  return { interval: found.interval, method: single ? 't over tasks' : 't, clustered by task' }
}

function meanOfSameTasks(groups: Groups): Method {
  return isBinary(groups) ? proportionOfSameTasks(groups) : spreadInsideTasks(groups)
}

function spreadInsideTasks(groups: Groups): Method {
  const found = repeatMean(groups, level)
  if (found.interval === null) {
    return {
      interval: null,
      method: 'none',
      reason: reasonOf(found.reason),
    }
  }
  return { interval: found.interval, method: 't over repeats inside tasks' }
}

function reasonOf(reason: string | undefined): EstimateReason {
  if (reason === 'too_large') return reason
  return reason === 'no_spread' ? 'repeats_agree' : 'single_repeats'
}

function proportionOfSameTasks(groups: Groups): Method {
  const found = spreadInsideTasks(groups)
  if (found.interval === null) return found
  const [low, high] = found.interval
  return { ...found, interval: [Math.max(0, low), Math.min(1, high)] }
}

const methods = {
  rate: { 'new tasks': proportionOfNewTasks, 'these tasks again': proportionOfSameTasks },
  mean: { 'new tasks': meanOfNewTasks, 'these tasks again': meanOfSameTasks },
}

/**
 * The mean of scores that come in tasks, computed from what was ordered: a headline only at `minCoverage`
 * (1 when absent), and otherwise the mean of what was scored with the bounds that the missing could reach.
 */
export function estimate(
  kind: 'mean' | 'rate',
  scores: TaskScores,
  { minCoverage = 1, scope = 'new tasks', lost = 0, largest }: EstimateOptions = {},
): Estimate {
  // Made anew for each pass: short-lived copies of one task at a time cost less than all of them at once.
  const groups: Groups = {
    *[Symbol.iterator]() {
      for (const orders of scores) {
        const finite: number[] = []
        for (let i = 0; i < orders.length; i++) if (Number.isFinite(orders[i])) finite.push(orders[i]!)
        if (finite.length > 0) yield finite
      }
    },
  }
  let planned = lost
  let tasks = 0
  for (const orders of scores) {
    tasks++
    planned += orders.length
  }
  const running = new RunningMean()
  let scoredTasks = 0
  for (const group of groups) {
    scoredTasks++
    for (const score of group) running.add(score)
  }
  const { n, total: sum, mean: observed } = running
  const facts = {
    n,
    planned,
    tasks: { scored: scoredTasks, planned: tasks },
    level,
    scope,
    observed,
    bounds:
      kind === 'rate' && planned > 0
        ? ([sum / planned, (sum + planned - n) / planned] satisfies [number, number])
        : null,
  } as const
  const missing = (reason: EstimateReason): Estimate => ({
    value: null,
    ...facts,
    interval: null,
    method: 'none',
    reason,
  })
  if (planned === 0) return missing('nothing_ordered')
  if (n === 0) return missing('nothing_scored')
  if (n / planned < minCoverage) return missing('below_coverage')
  return { value: observed, ...facts, ...methods[kind][scope](groups, largest) }
}

/** `estimate('rate', …)` with an interval that always exists. */
export function estimateRate(scores: TaskScores, options: EstimateOptions = {}): RateEstimate {
  const found = estimate('rate', scores, options)
  return { ...found, interval: found.interval ?? [0, 1] }
}
