import { holm } from '../stats/index.ts'
import { type Difference, detectableFrom, pOfLoss } from './difference.ts'

/** How sure a regression must be. */
export interface RegressionOptions {
  /** How often the gate may cry wolf where nothing got worse by more than the margin; 0.05 when absent. */
  alpha?: number
  /** A loss up to this much (of the measure, such as 0.02) is tolerated; 0 when absent. */
  margin?: number
}

/** What a look for a regression came to. */
export interface Regression {
  /** True: worse by more than the margin beyond chance. False: not shown to be. Null: it cannot be told. */
  regressed: boolean | null
  alpha: number
  margin: number
  /** One-sided, corrected by Holm's method where several runs are held against the first. */
  p: number | null
  method: Difference['pMethod']
  /** The smallest true loss that this gate catches in four of five cases, from how the tasks differ here; null where they do not. */
  catches: number | null
  /** A score is missing in one of the runs, so that `false` would be no all-clear. */
  lacking: boolean
}

/** Looks in the differences of the tasks of each candidate for a loss beyond chance. */
export function regressionOf(
  candidates: readonly (readonly number[])[],
  { alpha = 0.05, margin = 0 }: RegressionOptions,
): Regression[] {
  const tests = candidates.map((differences) => pOfLoss(differences, margin))
  const corrected = holm(tests.map(({ p }) => p))
  return candidates.map((differences, at) => {
    const p = corrected[at] ?? null
    // Half of a two-sided rate lies on the side of a loss; Holm's first step is the hardest.
    const catches = detectableFrom(differences, (2 * alpha) / candidates.length)
    return {
      regressed: p === null ? null : p <= alpha,
      alpha,
      margin,
      p,
      method: tests[at]!.method,
      catches: catches === null ? null : margin + catches,
      lacking: false,
    }
  })
}
