import type { EvaluationRecord, StepLine, StepRecord } from './records.ts'

/** What a watch looks at: the steps and evaluations up to some moment of a training. */
export interface Seen {
  steps: readonly StepRecord[]
  evaluations: readonly EvaluationRecord[]
}

/** Numbers of a step that may be missing. */
export type Measured = {
  [Name in keyof StepRecord]-?: StepRecord[Name] extends number | null ? Name : never
}[keyof StepRecord]

/** Steps and evaluations of a history, in their order. */
export function seenIn(history: readonly StepLine[]): Seen {
  return {
    steps: history.filter((line): line is StepRecord => line.kind === 'step'),
    evaluations: history.filter((line): line is EvaluationRecord => line.kind === 'evaluation'),
  }
}

/**
 * What was seen once `count` of the steps were. An evaluation is made with the weights after its step, so it is not seen by the
 * watches of that step.
 */
export function seenAt({ steps, evaluations }: Seen, count: number): Seen {
  const last = steps[count - 1]?.step ?? 0
  return { steps: steps.slice(0, count), evaluations: evaluations.filter(({ step }) => step < last) }
}

/** Values of a measure that are there, of these steps. */
export function valuesOf(steps: readonly StepRecord[], name: Measured): number[] {
  return steps.map((step) => step[name]).filter((value) => value !== null)
}

/** Mean; undefined of fewer than `least`. */
export function meanOf(values: readonly number[], least = 1): number | undefined {
  if (values.length < least) return undefined
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Steps that make a beginning, and an end, beside which noise of single steps is small. */
export const few = 5

/** Mean of a measure over the last few steps; undefined where fewer have it. */
export function lately(steps: readonly StepRecord[], name: Measured): number | undefined {
  return meanOf(valuesOf(steps.slice(-few), name), few)
}

/** Mean of a measure over the first few steps, once the last few are others; undefined until then. */
export function atFirst(steps: readonly StepRecord[], name: Measured): number | undefined {
  return steps.length < 2 * few ? undefined : meanOf(valuesOf(steps.slice(0, few), name), few)
}

export interface Rise {
  from: number
  to: number
  /** Standard error of `to - from`, steps taken as independent. */
  error: number
}

/** Steps over which a rise is looked for, at most and at least. */
const riseSteps = { most: 60, least: 18 }

/** From the first to the last third of the latest steps, by any measure of a step; undefined while there are too few. */
export function riseOf(
  steps: readonly StepRecord[],
  measure: (step: StepRecord) => number | null,
): Rise | undefined {
  const values = steps
    .slice(-riseSteps.most)
    .map(measure)
    .filter((value) => value !== null)
  if (values.length < riseSteps.least) return undefined
  const third = Math.floor(values.length / 3)
  const [before, after] = [spread(values.slice(0, third)), spread(values.slice(-third))]
  return { from: before.mean, to: after.mean, error: Math.sqrt((before.variance + after.variance) / third) }
}

function spread(values: readonly number[]): { mean: number; variance: number } {
  const mean = meanOf(values) ?? 0
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / Math.max(1, values.length - 1) }
}
