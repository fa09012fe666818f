import type { RandomInputs } from './random-inputs.ts'

/** One comparison on one random input: what ours says, and the call of `reference.py` that says what is right. */
export interface Comparison {
  ours: unknown
  reference: [name: string, arguments_: Record<string, unknown>]
}

/** An estimator and who judges it. */
export interface Check {
  estimator: string
  against: string
  cases: number
  /** Largest error that passes: relative for numbers above one, and below it too where `relative`; absolute otherwise. */
  tolerance: number
  relative?: boolean
  compare(random: RandomInputs): Comparison
}

/** Values by task id, as the paired estimators want them. */
export const ids = <T>(values: readonly T[]) => new Map(values.map((value, i) => [`t${i}`, value]))

/** Two-sided p-values and shares of random draws have a Monte-Carlo error of this order, both sides together. */
export const monteCarlo = 0.02
