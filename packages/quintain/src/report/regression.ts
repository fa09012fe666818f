import { boundedMeanTest, holm } from '../stats/index.ts'
import { detectableFrom } from './difference.ts'

/** How sure a regression must be. */
export interface RegressionOptions {
  /** How often the gate may cry wolf where nothing got worse by more than the margin; 0.05 when absent. */
  alpha?: number
  /** A loss up to this much (of the measure, such as 0.02) is tolerated; 0 when absent. */
  margin?: number
}

/** What a run is held against: the differences of its tasks from the first run, and what they could have been. */
export interface Candidate {
  /** After less before, of each task that has a score in both. */
  differences: readonly number[]
  /** The same differences if every task had come out as badly as can be. */
  worst: readonly number[]
  /** The largest difference there can be, either way; 1 for rates. Zero where no score differs from any other. */
  largest: number
}

/**
 * Why a gate gives no all-clear.
 *
 * `unfinished`: orders of one of the runs are open, or were lost with a damaged plan. `scores_missing`, `tasks_missing`:
 * fewer orders, or tasks of the first run, than the minimum coverage. `too_few_tasks`: none or one was scored in both.
 * `cannot_fail`: even if every task had come out as badly as can be, p would be above alpha.
 */
export type RegressionDoubt =
  | 'unfinished'
  | 'scores_missing'
  | 'tasks_missing'
  | 'too_few_tasks'
  | 'cannot_fail'

/** What a look for a regression came to. */
export interface Regression {
  /** True: worse by more than the margin beyond chance. False: not shown to be. Null: it cannot be told, see `doubts`. */
  regressed: boolean | null
  doubts: RegressionDoubt[]
  alpha: number
  margin: number
  /** One-sided, of the mean whatever its shape; corrected by Holm's method where several runs are held against the first. */
  p: number | null
  method: 'bounded_mean' | 'none'
  /** The smallest p that there could have been, corrected alike. */
  smallestP: number | null
  /** The smallest true loss that this gate catches in four of five cases, from how the tasks differ here; null where that is not known. */
  catches: number | null
  /** `alike`: all tasks differ by the same. `beyond_largest`: no loss that can be is caught so often. */
  catchesReason?: 'alike' | 'beyond_largest'
}

/** Looks in the differences of the tasks of each candidate for a loss beyond chance. */
export function regressionOf(
  candidates: readonly Candidate[],
  { alpha = 0.05, margin = 0 }: RegressionOptions,
): Regression[] {
  const found = candidates.map(({ differences, largest }) => pOfLoss(differences, largest, margin))
  const corrected = holm(found)
  return candidates.map((candidate, at) => {
    const { worst, largest } = candidate
    const p = corrected[at] ?? null
    const smallest = pOfLoss(worst, largest, margin)
    const smallestP = holm(found.with(at, smallest))[at] ?? null
    const doubts: RegressionDoubt[] = []
    if (p === null) doubts.push('too_few_tasks')
    else if (smallestP !== null && smallestP > alpha) doubts.push('cannot_fail')
    return {
      regressed: p === null ? null : p <= alpha ? true : doubts.length > 0 ? null : false,
      doubts,
      alpha,
      margin,
      p,
      method: p === null ? 'none' : 'bounded_mean',
      smallestP,
      ...catchesOf(candidate, margin, alpha / candidates.length),
    }
  })
}

/**
 * How surprising the differences are if the mean did not fall by more than `margin`, against the alternative that it did.
 * Of the mean, and not of symmetry as sign flips are: where many tasks lose a little and few gain much, differences of
 * mean zero look like a loss to those. Null below two tasks.
 */
function pOfLoss(differences: readonly number[], largest: number, margin: number): number | null {
  if (differences.length < 2) return null
  // Nothing differs, so nothing got worse.
  if (largest === 0) return 1
  return boundedMeanTest(differences, { mean: -margin, range: [-largest, largest] })?.pBelow ?? null
}

/** The test counts one more task, at its best: a loss must outweigh that as well as chance. */
function catchesOf(
  { differences, largest }: Candidate,
  margin: number,
  alpha: number,
): Pick<Regression, 'catches' | 'catchesReason'> {
  const n = differences.length
  if (n < 2) return { catches: null }
  // Half of a two-sided rate lies on the side of a loss; Holm's first step is the hardest.
  const detectable = detectableFrom(differences, 2 * alpha)
  if (detectable === null) {
    const alike = differences.every((one) => one === differences[0])
    return { catches: null, catchesReason: alike ? 'alike' : 'beyond_largest' }
  }
  const throughSpread = (detectable * (n + 1) + largest + margin) / n
  // The least that proves a loss where all tasks lose alike.
  const least = (largest + margin) * (alpha ** (-1 / n) - 1)
  const catches = margin + Math.max(throughSpread, least)
  return catches > largest ? { catches: null, catchesReason: 'beyond_largest' } : { catches }
}
