import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { playerName, QuintainError, readPanel } from '../core/index.ts'
import { holm } from '../stats/index.ts'
import {
  type Difference,
  differenceOf,
  rangeOf,
  scoresOf,
  type TaskPair,
  taskDifferences,
  withoutInference,
  worstDifferences,
} from './difference.ts'
import { type Estimate, estimate, estimateRate, largestReward, type RateEstimate } from './estimate.ts'
import { type Flip, flipsOf } from './flips.ts'
import { pairTasks, type TaskMatch } from './pair-tasks.ts'
import { type PlanDifference, planDiff } from './plan-diff.ts'
import { type Regression, type RegressionDoubt, type RegressionOptions, regressionOf } from './regression.ts'
import { readScoredRun, type ScoredRun, type ScoredTask } from './scored-run.ts'
import type { Ledger } from './summarize.ts'

/** One of the runs that are compared, with what it says of itself. */
export interface ComparedRun {
  dir: string
  /** A letter by which the output names it: A is the first. */
  letter: string
  policy: string
  /** Who played: the policy, or an agent with it behind it. */
  player: string
  tasks: number
  orders: number
  scored: number
  /** Scored orders over orders; null without orders. */
  coverage: number | null
  /** No order is open. */
  complete: boolean
  /** What is damaged in its files, in a sentence; null where nothing is. */
  damage: string | null
  success: RateEstimate
  reward: Estimate
  cost: Ledger
  /** US dollars of an order that was tried; null when the price of any of it is unknown. */
  costPerOrder: number | null
  wallMs: { p50: number | null; p95: number | null }
}

/** Two of the runs, paired by task: every difference is `to - from`. */
export interface PairComparison {
  /** Places of the two among the runs. */
  from: number
  to: number
  /** Both are the very same run. */
  same: boolean
  tasks: TaskMatch
  /** Null when the environment does not say what success is. */
  success: Difference | null
  reward: Difference
  /** Tasks that do not stand as they stood, by success where that is declared. */
  flips: Flip[]
  /** Tasks of both that some order of either left without a score. */
  incompleteTasks: number
  /** Those of them that are compared all the same, by what was scored. */
  partialTasks: number
  /** What was found when a regression was looked for. */
  regression?: Regression
}

/** Two or more runs of one environment, compared task by task; also the JSON form. */
export interface Comparison {
  schema: 'quintain.comparison'
  v: 2
  environment: { name: string; version: string }
  /** What the verdicts go by: success where it is declared, else the reward. */
  measure: 'success' | 'reward'
  runs: ComparedRun[]
  /** What differs between the plans. */
  plan: PlanDifference[]
  /** False when a difference of the plans would have refused the comparison and was overruled. */
  comparable: boolean
  pairs: PairComparison[]
  /** How the p-values are corrected for their number. */
  correction: 'Holm' | 'none'
}

export interface CompareOptions {
  /** Compare what does not measure the same thing, and label it. */
  force?: boolean
  /** Each against the first (the default), or all pairs. */
  pairs?: 'first' | 'all'
  /** Share of orders that must be scored for a headline of a run; 1 when absent. */
  minCoverage?: number
  /** Look for a regression of each run from the first. */
  regression?: RegressionOptions
}

function comparedRun(run: ScoredRun, place: number, minCoverage: number): ComparedRun {
  const { dir, manifest, orders, status, cost, tried, wallMs } = run
  const padded = (scores: (task: ScoredTask) => readonly number[]) => ({
    *[Symbol.iterator]() {
      for (const task of run.tasks.values()) {
        const found = scores(task)
        if (found.length === task.orders) {
          yield found
          continue
        }
        const all = new Float64Array(task.orders).fill(Number.NaN)
        all.set(found)
        yield all
      }
    },
  })
  const { lost } = run
  const seat = manifest.seats['agent'] ?? Object.values(manifest.seats)[0]
  const success = estimateRate(padded(scoresOf.success), { minCoverage, lost })
  return {
    dir,
    letter: letterOf(place),
    policy: seat?.policy ?? '',
    player: seat === undefined ? '' : playerName(seat),
    tasks: run.tasks.size,
    orders,
    scored: status.scored,
    coverage: orders === 0 ? null : status.scored / orders,
    complete: isComplete(run),
    damage: run.damage ?? null,
    success: manifest.environment.success
      ? success
      : { ...success, value: null, interval: [0, 1], bounds: null, reason: 'not_declared' },
    reward: estimate('mean', padded(scoresOf.reward), {
      minCoverage,
      lost,
      largest: largestReward(manifest.environment.rewards),
    }),
    cost,
    costPerOrder: cost.usd === null || tried === 0 ? null : cost.usd / tried,
    wallMs,
  }
}

const isComplete = ({ status }: ScoredRun) => status.pending === 0 && status.cancelled === 0

/** A, B, … Z, AA, … */
export function letterOf(place: number): string {
  const last = String.fromCharCode(65 + (place % 26))
  return place < 26 ? last : letterOf(Math.floor(place / 26) - 1) + last
}

/** Pairs of places: each against the first, or all. */
function placesOf(runs: number, which: 'first' | 'all'): [number, number][] {
  const places: [number, number][] = []
  for (let from = 0; from < (which === 'all' ? runs - 1 : 1); from++) {
    for (let to = from + 1; to < runs; to++) places.push([from, to])
  }
  return places
}

/**
 * Compares two or more runs of one environment, task by task. Reads their plans and attempt lines, never a trajectory.
 *
 * Runs of another environment, version, digest, options, rubric, limits or other players of other seats measure something
 * else: throws `run_mismatch`, unless `force`, which compares them and keeps the label. Throws `usage` for fewer than
 * two runs, and what `foldRun` throws.
 */
export async function compareRuns(
  dirs: readonly string[],
  options: CompareOptions = {},
): Promise<Comparison> {
  const { force = false, pairs: which = 'first', minCoverage = 1 } = options
  if (dirs.length < 2) {
    throw new QuintainError('usage', `A comparison takes two runs or more; ${dirs.length} were given.`)
  }
  const runs: ScoredRun[] = []
  for (const dir of dirs) runs.push(await readScoredRun(dir))
  const places = placesOf(runs.length, which)
  const matches = places.map(([from, to]) => pairTasks(runs[from]!, runs[to]!))
  const plan = planDiff(
    runs.map(({ manifest, split, orders, tasks }) => ({ manifest, split, orders, tasks: tasks.size })),
  )
  const changed = new Set(matches.flatMap(({ match }) => match.changed))
  if (changed.size > 0) {
    const some = [...changed].slice(0, 3).join(', ')
    plan.unshift({
      field: 'task content',
      severity: 'refuse',
      values: runs.map((_, place) =>
        place === 0
          ? 'as it is there'
          : `other for ${changed.size} (${some}${changed.size > 3 ? ', …' : ''})`,
      ),
    })
  }
  plan.push(
    ...tasksNotPaired(
      runs,
      places,
      matches.map(({ match }) => match),
    ),
  )
  if (await isUnverifiable(runs)) {
    plan.push({
      field: 'environment code',
      severity: 'label',
      values: runs.map(() => 'an object'),
      unknown: true,
    })
  }
  const refusing = plan.filter(({ severity }) => severity === 'refuse')
  if (refusing.length > 0 && !force) throw mismatch(dirs, refusing)
  const identities = await Promise.all(dirs.map((dir) => realpath(dir)))
  const same = ([from, to]: [number, number]) =>
    identities[from] === identities[to] ||
    (runs[from]!.manifest.id === runs[to]!.manifest.id && sameScores(runs[from]!, runs[to]!))
  const measure = runs.every(({ manifest }) => manifest.environment.success) ? 'success' : 'reward'
  const compared = places.map((place, at) => pairComparison(place, matches[at]!, same(place), measure))
  correct(compared)
  if (options.regression !== undefined) {
    lookForRegression(
      compared,
      matches.map(({ pairs }) => pairs),
      measure,
      options.regression,
      runs,
      minCoverage,
    )
  }
  const { name, version } = runs[0]!.manifest.environment
  return {
    schema: 'quintain.comparison',
    v: 2,
    environment: { name, version },
    measure,
    runs: runs.map((run, place) => comparedRun(run, place, minCoverage)),
    plan,
    comparable: refusing.length === 0,
    pairs: compared,
    correction: compared.length > 1 ? 'Holm' : 'none',
  }
}

/** Of each run that does not have the tasks of the first: how many it lacks, how many have other names, how many it has alone. */
function tasksNotPaired(
  runs: readonly ScoredRun[],
  places: readonly [number, number][],
  matches: readonly TaskMatch[],
): PlanDifference[] {
  const values = runs.map((_, place) => {
    const match = matches[places.findIndex(([from, to]) => from === 0 && to === place)]
    if (match === undefined) return 'as they are there'
    const told = [
      [match.renamed.length, 'renamed'],
      [match.onlyFrom.length, 'missing'],
      [match.onlyTo.length, 'added'],
    ] as const
    return told.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ') || 'the same'
  })
  const alike = values.slice(1).every((value) => value === 'the same')
  return alike ? [] : [{ field: 'task ids', severity: 'label', values }]
}

/**
 * Environments that were passed as objects have no digest: whether their rewards and secrets are the same cannot be known.
 * The runs of one panel were made with one object.
 */
async function isUnverifiable(runs: readonly ScoredRun[]): Promise<boolean> {
  if (!runs.some(({ manifest }) => manifest.environment.digest === 'inline')) return false
  const folders = new Set(runs.map(({ dir }) => dirname(dir)))
  if (folders.size > 1) return true
  const panel = await readPanel([...folders][0]!).catch(() => undefined)
  return !runs.every(({ dir }) => panel?.runs.includes(basename(dir)) === true)
}

/** A copy of a run elsewhere is the same run, unless something was added to one of the two. */
function sameScores(a: ScoredRun, b: ScoredRun): boolean {
  const scores = ({ tasks }: ScoredRun) =>
    JSON.stringify(
      [...tasks.values()].map(({ id, orders, rewards, successes }) => [id, orders, rewards, successes]),
    )
  return a.orders === b.orders && scores(a) === scores(b)
}

function mismatch(dirs: readonly string[], refusing: readonly PlanDifference[]): QuintainError {
  const told = refusing.map(({ field, values }) => `${field}: ${[...new Set(values)].join(' and ')}`)
  const shown = dirs.length === 2 ? dirs.join(' and ') : `${dirs.length} runs`
  return new QuintainError(
    'run_mismatch',
    `${shown} do not measure the same thing (${told.join('; ')}). Run one of them again, or compare them all the same (--force; force: true) and keep the label.`,
    { facts: { differences: refusing } },
  )
}

function pairComparison(
  [from, to]: [number, number],
  { pairs, match }: { pairs: TaskPair[]; match: TaskMatch },
  same: boolean,
  measure: 'success' | 'reward',
): PairComparison {
  const difference = (of: 'success' | 'reward') => {
    const found = differenceOf(pairs, of)
    return same ? withoutInference(found) : found
  }
  let incompleteTasks = 0
  let partialTasks = 0
  for (const tasks of pairs) {
    if (tasks.every(({ rewards, orders }) => rewards.length === orders)) continue
    incompleteTasks++
    if (tasks.every(({ rewards }) => rewards.length > 0)) partialTasks++
  }
  return {
    from,
    to,
    same,
    tasks: match,
    success: measure === 'success' ? difference('success') : null,
    reward: difference('reward'),
    flips: flipsOf(pairs, measure),
    incompleteTasks,
    partialTasks,
  }
}

/** Holm's correction over the comparisons made here, for each measure. */
function correct(compared: readonly PairComparison[]): void {
  for (const pick of [({ success }: PairComparison) => success, ({ reward }: PairComparison) => reward]) {
    const differences = compared.map(pick).filter((found) => found !== null)
    const corrected = holm(differences.map(({ p }) => p))
    const means = holm(differences.map(({ pMean }) => pMean))
    for (const [at, difference] of differences.entries()) {
      difference.pHolm = corrected[at] ?? null
      difference.pMeanHolm = means[at] ?? null
    }
  }
}

/** Of each run against the first; the others are no changes from what there was. */
function lookForRegression(
  compared: readonly PairComparison[],
  pairs: readonly (readonly TaskPair[])[],
  measure: 'success' | 'reward',
  options: RegressionOptions,
  runs: readonly ScoredRun[],
  minCoverage: number,
): void {
  const scores = scoresOf[measure]
  const candidates = compared.flatMap((pair, at) => (pair.from === 0 ? [{ pair, pairs: pairs[at]! }] : []))
  const found = regressionOf(
    candidates.map(({ pairs }) => {
      const [lowest, highest] = rangeOf(pairs, measure)
      return {
        differences: taskDifferences(pairs, scores),
        worst: worstDifferences(pairs, scores, lowest),
        largest: highest - lowest,
      }
    }),
    options,
  )
  for (const [at, { pair, pairs }] of candidates.entries()) {
    const { regressed, doubts, ...rest } = found[at]!
    const sides = [runs[pair.from]!, runs[pair.to]!]
    const more: RegressionDoubt[] = []
    if (!sides.every(isComplete)) more.push('unfinished')
    if (sides.some(({ orders, status }) => orders === 0 || status.scored / orders < minCoverage))
      more.push('scores_missing')
    if (pairs.length < runs[pair.from]!.tasks.size * minCoverage) more.push('tasks_missing')
    const all = [...more, ...doubts]
    // What is missing may be what broke: a gate that saw a part says nothing of the whole. A loss that is beyond chance
    // in what was scored stands, unless the rest is yet to come.
    const verdict = more.includes('unfinished') || (regressed === false && all.length > 0) ? null : regressed
    pair.regression = { ...rest, regressed: verdict, doubts: all }
  }
}
