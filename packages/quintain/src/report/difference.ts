import {
  areEqual,
  betaQuantile,
  boundedMeanTest,
  mcnemarTest,
  pairedAgain,
  pairedDifference,
  smallestDetectable,
  standardError,
} from '../stats/index.ts'
import type { EstimateScope } from './estimate.ts'
import type { ScoredTask } from './scored-run.ts'

export type DifferenceReason =
  /** No task has a score in both runs. */
  | 'no_pairs'
  /** One task says nothing of how tasks differ. */
  | 'single_pair'
  /** Every task differs by the same. */
  | 'no_spread'
  /** Some task has a single scored attempt in one of the runs, so its spread under repetition is unknown. */
  | 'single_repeats'
  /** The attempts at each task all came to the same in both runs. */
  | 'repeats_agree'
  /** Both are one and the same run. */
  | 'same_run'
  /** The scores are too large for their spread to be a number. */
  | 'too_large'

/** An interval of a difference, what it speaks of, and how it was made. */
export interface DifferenceInterval {
  interval: [number, number] | null
  level: number
  scope: EstimateScope
  method: string
  stderr: number | null
  reason?: DifferenceReason
}

/** How one measure differs between two runs, over the tasks that both have a score of. After minus before. */
export interface Difference {
  /** Mean over tasks of the difference of the task's means; null without a pair. */
  difference: number | null
  /** Tasks with a score in both. */
  pairs: number
  higher: number
  equal: number
  lower: number
  newTasks: DifferenceInterval
  again: DifferenceInterval
  /**
   * Two-sided, by flipping the signs of the tasks' differences: of "both play alike". Null where there is nothing to test.
   */
  p: number | null
  pMethod: 'sign_flip_exact' | 'sign_flip_sampled' | 'none'
  /** `p` corrected by Holm's method for the comparisons made here; equal to it when there is one. */
  pHolm: number | null
  /**
   * Two-sided, of "both means are equal", whatever the shape of the differences; the same number as `p` where each task
   * was tried once. For rewards it rests on `range`.
   */
  pMean: number | null
  pMeanHolm: number | null
  /** The lowest and highest score that were reckoned with: 0 to 1, or what was seen where rewards lie outside that. */
  range: [number, number]
  /** Tasks that only one of the runs solved, where each was tried once on either side, and McNemar's exact p. */
  mcnemar: { gained: number; lost: number; p: number } | null
  /** The smallest true difference that a comparison with this spread finds in four of five cases at the level; null without spread. */
  detectable: number | null
  /** The difference if every missing score had been the worst for it, and the best; null where scores have no declared range. */
  bounds: [number, number] | null
}

/** Probability with which the smallest detectable difference is detected. */
export const power = 0.8

const level = 0.95

type ScoresOf = (task: ScoredTask) => readonly number[]
export const scoresOf: Record<'success' | 'reward', ScoresOf> = {
  success: ({ successes }) => successes,
  reward: ({ rewards }) => rewards,
}

export type TaskPair = readonly [before: ScoredTask, after: ScoredTask]

function meanOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** Difference of each task that has a score on both sides. */
export function taskDifferences(pairs: readonly TaskPair[], scores: ScoresOf): number[] {
  const differences: number[] = []
  for (const [before, after] of pairs) {
    const [from, to] = [scores(before), scores(after)]
    if (from.length === 0 || to.length === 0) continue
    const [old, now] = [meanOf(from), meanOf(to)]
    differences.push(areEqual(old, now) ? 0 : now - old)
  }
  return differences
}

/** What those differences would be if every task of the second run had come out at the lowest score there can be. */
export function worstDifferences(pairs: readonly TaskPair[], scores: ScoresOf, lowest: number): number[] {
  return pairs.flatMap(([before, after]) =>
    scores(before).length > 0 && scores(after).length > 0 ? [lowest - meanOf(scores(before))] : [],
  )
}

/**
 * The scores there can be. Rewards have no declared range: 0 to 1 is taken for those that all lie there, and for others
 * the lowest and highest that were seen, which is an assumption and is told.
 */
export function rangeOf(pairs: readonly TaskPair[], measure: 'success' | 'reward'): [number, number] {
  if (measure === 'success') return [0, 1]
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const reward of pairs.flatMap(([before, after]) => [...before.rewards, ...after.rewards])) {
    low = Math.min(low, reward)
    high = Math.max(high, reward)
  }
  return !(low <= high) || (low >= 0 && high <= 1) ? [0, 1] : [low, high]
}

/** Tasks gained and lost, where every task was tried once on each side. */
function mcnemarOf(pairs: readonly TaskPair[]): Difference['mcnemar'] {
  let gained = 0
  let lost = 0
  for (const [{ successes: from }, { successes: to }] of pairs) {
    if (from.length === 0 || to.length === 0) continue
    if (from.length > 1 || to.length > 1) return null
    if (to[0]! > from[0]!) gained++
    else if (to[0]! < from[0]!) lost++
  }
  const test = mcnemarTest(lost, gained)
  return test && { gained, lost, p: test.p }
}

/** What the missing scores could make of the difference, over all tasks that both runs ordered, scores being from 0 to 1. */
function boundsOf(pairs: readonly TaskPair[]): [number, number] | null {
  if (pairs.length === 0) return null
  const ends = ({ successes, orders }: ScoredTask): [number, number] => {
    const sum = successes.reduce((total, score) => total + score, 0)
    return [sum / orders, (sum + orders - successes.length) / orders]
  }
  let low = 0
  let high = 0
  for (const [before, after] of pairs) {
    const [from, to] = [ends(before), ends(after)]
    low += to[0] - from[1]
    high += to[1] - from[0]
  }
  return [low / pairs.length, high / pairs.length]
}

const methods = { t: 't, paired by task', bonett_price: 'Bonett and Price, paired by task', none: 'none' }

function reasonOf(reason: string | undefined): { reason?: DifferenceReason } {
  if (reason === undefined) return {}
  const known = ['no_pairs', 'single_pair', 'single_repeats', 'too_large'] as const
  return { reason: known.find((one) => one === reason) ?? 'no_spread' }
}

const singleAgain = { interval: null, stderr: null, reason: 'single_repeats' } as const

/** Compares a measure of two runs by the tasks that both ordered. `pairs` holds each of those, scored or not. */
export function differenceOf(pairs: readonly TaskPair[], measure: 'success' | 'reward'): Difference {
  const scores = scoresOf[measure]
  const side = (at: 0 | 1) => new Map(pairs.map((pair) => [pair[0].id, scores(pair[at])]))
  const [before, after] = [side(0), side(1)]
  const found = pairedDifference(after, before, {
    level,
    ...(measure === 'success' ? { range: [0, 1] } : {}),
  })
  // Seen at the first task that was tried once; in ten thousand such tasks there is nothing else to look for.
  const single = pairs.some((pair) => {
    const [from, to] = [scores(pair[0]).length, scores(pair[1]).length]
    return Math.min(from, to) === 1
  })
  const again = single ? singleAgain : pairedAgain(after, before, level)
  const { difference, pairs: n, higher, equal, lower, stderr, p, pMethod } = found
  const range = rangeOf(pairs, measure)
  const pMean = p === null ? null : pOfMean(taskDifferences(pairs, scores), range[1] - range[0])
  return {
    difference,
    pairs: n,
    higher,
    equal,
    lower,
    newTasks: {
      interval: found.interval,
      level,
      scope: 'new tasks',
      method: methods[found.intervalMethod],
      stderr,
      ...reasonOf(found.reason),
    },
    again: {
      interval: again.interval,
      level,
      scope: 'these tasks again',
      method: again.interval === null ? 'none' : 't over repeats inside tasks',
      stderr: again.stderr,
      ...(again.reason === 'no_spread' ? { reason: 'repeats_agree' } : reasonOf(again.reason)),
    },
    p,
    pMethod,
    pHolm: p,
    pMean,
    pMeanHolm: pMean,
    range,
    mcnemar: measure === 'success' && n > 0 ? mcnemarOf(pairs) : null,
    detectable: detectableFrom(taskDifferences(pairs, scores), 1 - level),
    bounds: measure === 'success' ? boundsOf(pairs) : null,
  }
}

/**
 * The smallest true difference that tasks which differ like these show with the stated power, at a two-sided error rate.
 * Null where they do not differ, are fewer than two, or are so few that no difference is ever shown.
 */
export function detectableFrom(differences: readonly number[], alpha: number): number | null {
  const { stderr, n } = standardError(differences)
  const largest = differences.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
  if (stderr === null || stderr <= 1e-12 * largest) return null
  const counted = fewestThatShow(differences, alpha)
  if (counted === null) return null
  const design = { kind: 'paired', between: stderr * stderr * n, within: 0, repeats: 1 } as const
  const { value } = smallestDetectable(n, design, { alpha, power })
  return value === null ? null : Math.max(value, counted)
}

/**
 * Where few tasks differ, the spread promises what no exact test keeps: that one needs some number of tasks which all
 * differ one way. The mean difference with which so many do, as often as the power says. Null with fewer tasks than that.
 */
function fewestThatShow(differences: readonly number[], alpha: number): number | null {
  const tasks = differences.length
  const needed = Math.ceil(Math.log2(2 / alpha) - 1e-12)
  if (needed > tasks) return null
  const sizes = differences.filter((one) => one !== 0).map(Math.abs)
  // P(at least k of n differ) is the distribution function of Beta(k, n - k + 1) at the share that does.
  return betaQuantile(power, needed, tasks - needed + 1) * meanOf(sizes)
}

function pOfMean(differences: readonly number[], largest: number): number | null {
  if (largest === 0) return 1
  return boundedMeanTest(differences, { range: [-largest, largest] })?.p ?? null
}

/** The difference of a run from itself: zero, and nothing that could be inferred. */
export function withoutInference(found: Difference): Difference {
  const none = { interval: null, method: 'none', stderr: null, reason: 'same_run' } as const
  return {
    ...found,
    newTasks: { ...found.newTasks, ...none },
    again: { ...found.again, ...none },
    p: null,
    pMethod: 'none',
    pHolm: null,
    pMean: null,
    pMeanHolm: null,
    mcnemar: null,
    detectable: null,
  }
}
