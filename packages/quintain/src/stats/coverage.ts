import { mean } from './mean.ts'

/** One planned thing: its score or null, and whether an error was recorded for it (it may have both). */
export interface Sample {
  score: number | null
  error?: boolean
}

export interface Coverage {
  planned: number
  scored: number
  unscored: number
  /** Samples with an error, scored or not. */
  errored: number
  completedWithoutError: number
  /** Mean over what was scored; null without any. Not a headline unless `headlineValid`. */
  mean: number | null
  /** scored / planned; null when nothing was planned. */
  coverage: number | null
  /** True at full coverage, or at the declared minimum. */
  headlineValid: boolean
  /** The mean if everything missing had scored `lowest`, and `highest`: no assumption can leave these bounds. Null where that is not finite. */
  low: number | null
  high: number | null
}

/**
 * Counts what came back against what was planned, so that nothing vanishes from a denominator.
 * What was planned and is not among the samples is missing too; more samples than planned raise the plan.
 */
export function coverageOf(
  samples: Iterable<Sample>,
  {
    planned,
    minCoverage = 1,
    lowest = 0,
    highest = 1,
  }: { planned?: number; minCoverage?: number; lowest?: number; highest?: number } = {},
): Coverage {
  const scores: (number | null)[] = []
  let errored = 0
  for (const sample of samples) {
    scores.push(sample.score)
    if (sample.error === true) errored++
  }
  // What is no count says nothing of a plan; that of the samples themselves stands.
  const total = Math.max(Number.isFinite(planned) ? Math.ceil(planned!) : 0, scores.length)
  const { mean: centre, n } = mean(scores)
  const sum = (centre ?? 0) * n
  const missing = total - n
  const coverage = total === 0 ? null : n / total
  return {
    planned: total,
    scored: n,
    unscored: missing,
    errored,
    completedWithoutError: scores.length - errored,
    mean: centre,
    coverage,
    headlineValid: coverage !== null && n > 0 && coverage >= minCoverage,
    low: total === 0 ? null : finiteOr((sum + missing * lowest) / total, missing === 0 ? centre : null),
    high: total === 0 ? null : finiteOr((sum + missing * highest) / total, missing === 0 ? centre : null),
  }
}

/** A range without an end bounds nothing on that side, unless nothing is missing. */
function finiteOr(value: number, otherwise: number | null): number | null {
  return Number.isFinite(value) ? value : otherwise
}

/** Of the tasks that were planned, how many have at least one score, and whether every task is whole. */
export function taskCoverage(
  tasks: Iterable<readonly (number | null)[]>,
  planned?: number,
): { plannedTasks: number; scoredTasks: number; completeTasks: number; headlineValid: boolean } {
  let seen = 0
  let scoredTasks = 0
  let completeTasks = 0
  for (const scores of tasks) {
    seen++
    const finite = scores.filter((score) => score !== null && Number.isFinite(score)).length
    if (finite > 0) scoredTasks++
    if (finite > 0 && finite === scores.length) completeTasks++
  }
  const plannedTasks = Math.max(Number.isFinite(planned) ? Math.ceil(planned!) : 0, seen)
  return {
    plannedTasks,
    scoredTasks,
    completeTasks,
    headlineValid: plannedTasks > 0 && completeTasks === plannedTasks,
  }
}
