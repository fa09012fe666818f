import { plural, scoreText } from '../../report/index.ts'
import type { EvaluationRecord, StepRecord } from '../records.ts'
import { wayOf } from '../training-text.ts'
import type { Curve, Point } from './curves.ts'

/** Points of a line at most; more are averaged, since a screen has no room for them. */
const mostPoints = 400

/** Steps whose mean smooths a line of single steps, at most; a tenth of them where they are few. */
const mostSmoothed = 20

/** A measure of the steps as a line of means, and behind it, faint, the steps themselves. */
export function stepCurves(
  steps: readonly StepRecord[],
  {
    name,
    tone,
    measure,
  }: { name: string; tone: Curve['tone']; measure: (step: StepRecord) => number | null },
): Curve[] {
  const points = pointsOf(steps, measure)
  if (points.length === 0) return []
  const window = Math.min(mostSmoothed, Math.ceil(points.length / 10))
  if (window < 2) return [{ name, tone, points: thinned(points) }]
  return [
    { name: `${name}, each step`, tone: 'faint', points: thinned(points) },
    { name: `${name}, mean of ${window} steps`, tone, points: thinned(movingMean(points, window)) },
  ]
}

/** Several measures of the steps as lines of means, without the steps behind them. */
export function smoothCurve(
  steps: readonly StepRecord[],
  {
    name,
    tone,
    measure,
  }: { name: string; tone: Curve['tone']; measure: (step: StepRecord) => number | null },
): Curve[] {
  return stepCurves(steps, { name, tone, measure })
    .filter((curve) => curve.tone !== 'faint')
    .map((curve) => ({ ...curve, name }))
}

function pointsOf(steps: readonly StepRecord[], measure: (step: StepRecord) => number | null): Point[] {
  return steps.flatMap((step) => {
    const y = measure(step)
    return y === null || !Number.isFinite(y) ? [] : [{ x: step.step, y }]
  })
}

/** The mean of each point and those before it, as many as there are up to `window`. */
function movingMean(points: readonly Point[], window: number): Point[] {
  return points.map(({ x }, i) => {
    const latest = points.slice(Math.max(0, i + 1 - window), i + 1)
    return { x, y: latest.reduce((sum, { y }) => sum + y, 0) / latest.length }
  })
}

/** At most so many points, each the mean of its neighbours; the last stays where it is. */
function thinned(points: readonly Point[]): Point[] {
  const every = Math.ceil(points.length / mostPoints)
  if (every < 2) return [...points]
  const bins: Point[] = []
  for (let from = 0; from < points.length; from += every) {
    const bin = points.slice(from, from + every)
    bins.push({ x: bin.at(-1)!.x, y: bin.reduce((sum, { y }) => sum + y, 0) / bin.length })
  }
  return bins
}

/** Evaluations of one kind as a line with the intervals round it. */
export function evaluationCurve(
  evaluations: readonly EvaluationRecord[],
  { name, tone, dashed }: Pick<Curve, 'name' | 'tone'> & { dashed?: boolean },
): Curve[] {
  const known = evaluations.flatMap((one) => {
    const y = one.success ?? one.reward
    return y === null ? [] : [{ one, y }]
  })
  if (known.length === 0) return []
  const band = known.flatMap(({ one }) =>
    one.interval === null ? [] : [{ x: one.step, low: one.interval[0], high: one.interval[1] }],
  )
  return [
    {
      name,
      tone,
      points: known.map(({ one, y }) => ({ x: one.step, y })),
      said: known.map(
        ({ one, y }) =>
          `step ${one.step}, ${one.role} at ${wayOf(one)}: ${scoreText(y)}${one.interval === null ? '' : ` [${one.interval.map((end) => scoreText(end)).join(', ')}]`} (${plural(one.tasks, 'task')})`,
      ),
      ...(band.length === 0 ? {} : { band }),
      ...(dashed === undefined ? {} : { dashed }),
    },
  ]
}
