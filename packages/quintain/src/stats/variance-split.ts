import { pairScores, type TaskScore } from './pair-scores.ts'

export interface VarianceSplit {
  /** omega^2, variance of the tasks' true means; never below zero. Null below two tasks. */
  between: number | null
  /** sigma^2, variance of the repeats of a task, mean over tasks. Null where no task has two scores. */
  within: number | null
  /** Tasks with a score, and with at least two. */
  tasks: number
  repeatedTasks: number
  reason?: 'no_scores' | 'single_task' | 'single_repeats' | 'too_large'
}

interface TaskSpread {
  mean: number
  n: number
  variance: number | null
}

function spreadOf(scores: Iterable<number | null>): TaskSpread | null {
  let n = 0
  let centre = 0
  let squares = 0
  for (const score of scores) {
    if (score === null || !Number.isFinite(score)) continue
    n++
    const step = score - centre
    centre += step / n
    squares += step * (score - centre)
  }
  return n === 0 ? null : { mean: centre, n, variance: n < 2 ? null : squares / (n - 1) }
}

/** Mean of sigma^2/K over tasks: a task with a single score is taken to have the mean variance of the others. */
function noiseOfMeans(tasks: readonly TaskSpread[], within: number): number {
  return tasks.reduce((sum, { n, variance }) => sum + (variance ?? within) / n, 0) / tasks.length
}

function meanWithin(tasks: readonly TaskSpread[]): number | null {
  const known = tasks.flatMap(({ variance }) => (variance === null ? [] : [variance]))
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

function sampleVariance(values: readonly number[]): number {
  const centre = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1)
}

/**
 * Splits the variance of scores into that between tasks and that inside them, from repeats (which may be unequal):
 * sigma^2 is the mean of the tasks' variances, omega^2 the variance of their means less what sigma^2/K explains.
 * What `smallestDetectable` and `requiredTasks` want for `kind: 'constant'`.
 */
export function varianceSplit(tasks: Iterable<readonly (number | null)[]>): VarianceSplit {
  const spreads: TaskSpread[] = []
  for (const scores of tasks) {
    const spread = spreadOf(scores)
    if (spread !== null) spreads.push(spread)
  }
  const repeatedTasks = spreads.filter(({ variance }) => variance !== null).length
  const within = meanWithin(spreads)
  const facts = { within, tasks: spreads.length, repeatedTasks }
  if (within !== null && !Number.isFinite(within))
    return { ...facts, within: null, between: null, reason: 'too_large' }
  if (spreads.length === 0) return { ...facts, between: null, reason: 'no_scores' }
  if (spreads.length === 1) return { ...facts, between: null, reason: 'single_task' }
  if (within === null) return { ...facts, between: null, reason: 'single_repeats' }
  const total = sampleVariance(spreads.map(({ mean }) => mean))
  if (!Number.isFinite(total)) return { ...facts, between: null, reason: 'too_large' }
  return { ...facts, between: Math.max(0, total - noiseOfMeans(spreads, within)) }
}

export interface PairedVarianceSplit {
  /** omega_d^2, variance of the tasks' true differences; never below zero. */
  between: number | null
  within: number | null
  withinOther: number | null
  pairs: number
  reason?: 'no_pairs' | 'single_pair' | 'single_repeats' | 'too_large'
}

/** `varianceSplit` of the paired differences a - b: what `smallestDetectable` wants for `kind: 'paired'`. */
export function pairedVarianceSplit(
  a: ReadonlyMap<string, TaskScore>,
  b: ReadonlyMap<string, TaskScore>,
): PairedVarianceSplit {
  const { pairs } = pairScores(a, b)
  const side = (scores: ReadonlyMap<string, TaskScore>) =>
    pairs.flatMap(({ id }) => {
      const score = scores.get(id) ?? null
      return spreadOf(score === null || typeof score === 'number' ? [score] : score) ?? []
    })
  const [left, right] = [side(a), side(b)]
  const [within, withinOther] = [meanWithin(left), meanWithin(right)]
  const facts = { within, withinOther, pairs: pairs.length }
  if (![within ?? 0, withinOther ?? 0].every(Number.isFinite))
    return { ...facts, within: null, withinOther: null, between: null, reason: 'too_large' }
  if (pairs.length === 0) return { ...facts, between: null, reason: 'no_pairs' }
  if (pairs.length === 1) return { ...facts, between: null, reason: 'single_pair' }
  if (within === null || withinOther === null) return { ...facts, between: null, reason: 'single_repeats' }
  const total = sampleVariance(pairs.map((pair) => pair.a - pair.b))
  if (!Number.isFinite(total)) return { ...facts, between: null, reason: 'too_large' }
  const noise = noiseOfMeans(left, within) + noiseOfMeans(right, withinOther)
  return { ...facts, between: Math.max(0, total - noise) }
}
