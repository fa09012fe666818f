import { countText, durationText, scoreText } from '../report/index.ts'
import type { EvaluationRecord, StepLine, StepRecord } from './records.ts'

/** Steps of a training that ends by something else, such as its time. */
export const unboundedSteps = 1_000_000

/** How far a training may go, whichever comes first. */
export interface TrainingBudget {
  steps: number
  seconds?: number
  /** Steps from one measurement to the next; absent where nothing is measured. */
  evaluateEvery?: number
}

/** `12/200`, or `12` where only something else ends the training. */
export function stepsText(made: number, planned: number, between = '/'): string {
  return planned >= unboundedSteps ? countText(made) : `${countText(made)}${between}${countText(planned)}`
}

/** Steps whose pace says how long the rest takes. */
const paceSteps = 20

/**
 * Milliseconds until the end: those of the steps until the last one or the end of the budget, at the pace of the latest, and of
 * the measurements that are due until then, each as long as it took last. Null while that is not known.
 */
export function timeLeftMs(
  history: readonly StepLine[],
  { steps, seconds, evaluateEvery }: TrainingBudget,
): number | null {
  const made = history.filter((line): line is StepRecord => line.kind === 'step').slice(-paceSteps)
  const latest = made.at(-1)
  if (latest === undefined) return null
  const perStep = made.reduce((sum, step) => sum + wholeOf(step), 0) / made.length
  const bySteps = Math.max(0, steps - latest.step) * perStep
  const byTime = seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, seconds - latest.elapsedS)
  const left = Math.min(bySteps, byTime)
  const stepsLeft = perStep > 0 ? Math.ceil(left / perStep) : 0
  return 1000 * (left + measuringLeft(history, latest.step, stepsLeft, evaluateEvery))
}

/** Seconds of the measurements from a step on: those on the way, those of the last step, and once those that are reported. */
function measuringLeft(
  history: readonly StepLine[],
  step: number,
  stepsLeft: number,
  every: number | undefined,
): number {
  if (every === undefined || stepsLeft === 0) return 0
  const last = step + stepsLeft
  const rounds = Math.floor(last / every) - Math.floor(step / every) + (last % every === 0 ? 0 : 1)
  const took = new Map<string, number>()
  for (const line of history)
    if (line.kind === 'evaluation') took.set(`${line.role} ${line.temperature}`, line.seconds ?? 0)
  let sum = 0
  for (const [what, seconds] of took) sum += seconds * (what.startsWith('test ') ? 1 : rounds)
  return sum
}

const wholeOf = ({ seconds }: StepRecord): number => seconds.rollouts + seconds.training + seconds.other

/** Held-out success as the latest evaluations say it, at temperature 1 and greedy. */
function heldOut(history: readonly StepLine[]): string | undefined {
  const evaluations = history.filter((line): line is EvaluationRecord => line.kind === 'evaluation')
  const role = evaluations.some((one) => one.role === 'validation') ? 'validation' : 'test'
  const latest = (temperature: number) =>
    evaluations.findLast((one) => one.role === role && one.temperature === temperature)
  const [sampled, greedy] = [latest(1), latest(0)]
  const value = sampled?.success ?? sampled?.reward
  if (sampled === undefined || value == null) return undefined
  const range =
    sampled.interval === null ? '' : ` [${sampled.interval.map((end) => scoreText(end, 2)).join(', ')}]`
  const cold = greedy?.success ?? greedy?.reward
  return `held-out ${scoreText(value, 2)}${range}${cold == null ? '' : `, greedy ${scoreText(cold, 2)}`}`
}

/**
 * A training's state on one line: how far, how long yet, reward and success of the latest rollouts, held-out success with its
 * interval, entropy, alarms so far.
 */
export function trainingProgressText(history: readonly StepLine[], budget: TrainingBudget): string {
  const steps = history.filter((line): line is StepRecord => line.kind === 'step')
  const latest = steps.at(-1)
  const parts = [`step ${stepsText(latest?.step ?? 0, budget.steps)}`]
  const left = timeLeftMs(history, budget)
  if (left !== null && left > 0) parts.push(`${durationText(left)} left`)
  if (latest?.rewardMean != null) parts.push(`reward ${scoreText(latest.rewardMean, 2)}`)
  if (latest?.success != null) parts.push(`success ${scoreText(latest.success, 2)}`)
  const held = heldOut(history)
  if (held !== undefined) parts.push(held)
  if (latest?.entropy != null) parts.push(`entropy ${scoreText(latest.entropy, 2)}`)
  const alarms = steps.reduce((sum, step) => sum + step.alarms.length, 0)
  if (alarms > 0) parts.push(`${countText(alarms)} ${alarms === 1 ? 'alarm' : 'alarms'}`)
  return parts.join('  ')
}
