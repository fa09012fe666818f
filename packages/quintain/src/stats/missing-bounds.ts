import { clusteredMean } from './clustered-mean.ts'
import { type TaskScore, taskMean } from './pair-scores.ts'
import { type PairedOptions, pairedDifference } from './paired.ts'
import { isLevel, type Scope } from './scope.ts'

export interface Bounds {
  /** The value if everything missing were as bad, and as good, as the range allows. */
  low: number | null
  high: number | null
  /** From the lower end of the interval of the worst case to the upper end of that of the best. */
  interval: [number, number] | null
  scope: Scope
  /** Scores that are missing of those planned. */
  missing: number
  planned: number
  reason?:
    | 'nothing_planned'
    | 'out_of_range'
    | 'bad_range'
    | 'single_cluster'
    | 'no_spread'
    | 'level_out_of_range'
}

const isMissing = (score: number | null): score is null => score === null || !Number.isFinite(score)
/** Without an end on a side there is no bound on it, and none to make an interval from. */
const isRange = ([lowest, highest]: readonly [number, number]) =>
  Number.isFinite(lowest) && Number.isFinite(highest) && lowest <= highest
const within = (score: number, [lowest, highest]: readonly [number, number]) =>
  score >= lowest && score <= highest

/**
 * What missing scores could do to a mean over all scores: no assumption about why they are missing can leave these
 * bounds (Manski's). A null in a task is a planned score that did not come. `range` is what a score can be, and finite.
 */
export function meanBounds(
  tasks: Iterable<readonly (number | null)[]>,
  { range, level = 0.95 }: { range: readonly [number, number]; level?: number },
): Bounds {
  const all = [...tasks]
  const planned = all.reduce((sum, scores) => sum + scores.length, 0)
  const missing = all.reduce((sum, scores) => sum + scores.filter(isMissing).length, 0)
  const facts = { low: null, high: null, interval: null, scope: 'new tasks', missing, planned } as const
  if (planned === 0) return { ...facts, reason: 'nothing_planned' }
  if (!isRange(range)) return { ...facts, reason: 'bad_range' }
  if (all.some((scores) => scores.some((score) => !isMissing(score) && !within(score, range))))
    return { ...facts, reason: 'out_of_range' }
  const usable = isLevel(level)
  const filled = (instead: number) =>
    clusteredMean(
      all.map((scores) => scores.map((score) => (isMissing(score) ? instead : score))),
      { level: usable ? level : 0.95 },
    )
  const [worst, best] = [filled(range[0]), filled(range[1])]
  const found = { ...facts, low: worst.mean, high: best.mean }
  if (!usable) return { ...found, reason: 'level_out_of_range' }
  if (worst.interval === null || best.interval === null) return { ...found, reason: 'single_cluster' }
  if (worst.stderr === 0 && best.stderr === 0) return { ...found, reason: 'no_spread' }
  const interval: [number, number] = [
    Math.max(range[0], worst.interval[0]),
    Math.min(range[1], best.interval[1]),
  ]
  return { ...found, interval }
}

/**
 * What missing scores could do to a paired difference a - b over all tasks of either side: at worst all of a's missing
 * scores are as low and all of b's as high as can be, at best the other way round. A task that only one side has, or
 * that has no score, counts as one missing score on the side that lacks it.
 */
export function pairedBounds(
  a: ReadonlyMap<string, TaskScore>,
  b: ReadonlyMap<string, TaskScore>,
  options: Omit<PairedOptions, 'range'> & { range: readonly [number, number] },
): Bounds {
  const { range } = options
  const ids = new Set([...a.keys(), ...b.keys()])
  const facts = { low: null, high: null, interval: null, scope: 'new tasks' } as const
  let missing = 0
  let planned = 0
  for (const side of [a, b]) {
    for (const id of ids) {
      const scores = repeatsOf(side.get(id) ?? null)
      planned += scores.length
      missing += scores.filter(isMissing).length
      if (isRange(range) && scores.some((score) => !isMissing(score) && !within(score, range)))
        return { ...facts, missing, planned, reason: 'out_of_range' }
    }
  }
  if (ids.size === 0) return { ...facts, missing, planned, reason: 'nothing_planned' }
  if (!isRange(range)) return { ...facts, missing, planned, reason: 'bad_range' }
  const filled = (side: ReadonlyMap<string, TaskScore>, instead: number) =>
    new Map(
      [...ids].map((id) => [
        id,
        taskMean(repeatsOf(side.get(id) ?? null).map((score) => (isMissing(score) ? instead : score))),
      ]),
    )
  const worst = pairedDifference(filled(a, range[0]), filled(b, range[1]), options)
  const best = pairedDifference(filled(a, range[1]), filled(b, range[0]), options)
  const found = { ...facts, missing, planned, low: worst.difference, high: best.difference }
  if (worst.interval === null || best.interval === null) {
    const reason = worst.reason ?? best.reason
    return {
      ...found,
      reason: reason === 'level_out_of_range' || reason === 'no_spread' ? reason : 'single_cluster',
    }
  }
  return { ...found, interval: [worst.interval[0], best.interval[1]] }
}

/** The planned scores of a task; one that is missing where there are none. */
function repeatsOf(score: TaskScore): readonly (number | null)[] {
  if (score === null || typeof score === 'number') return [score]
  return score.length === 0 ? [null] : score
}
