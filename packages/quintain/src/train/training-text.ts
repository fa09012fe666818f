import {
  countText,
  durationText,
  formatTable,
  plainStyle,
  plural,
  printableLine,
  type Style,
  scoreText,
  signedText,
} from '../report/index.ts'
import { stepsText } from './progress.ts'
import type { EndRecord, EvaluationRecord } from './records.ts'
import type { BeforeAfter, TrainingSummary, Verdict } from './training-summary.ts'

/** What a verdict says to people. */
export const verdictTexts: Record<Verdict, string> = {
  better: 'Better: success rose both at temperature 1 and greedy, on tasks that were not trained on',
  more_reliable:
    'More reliable, not better: success rose at temperature 1 alone; greedy play, or a lower temperature, may have done as well before',
  mixed: 'Mixed: one way of playing rose beyond chance and the other did not follow',
  no_difference: 'No difference beyond chance; more tasks or repeats would see a smaller one',
  unchanged:
    'Unchanged: on validation no checkpoint was better than the policy as it began, so that is the best one',
  worse: 'Worse than before on tasks that were not trained on',
  unknown: 'Not known: it takes measurements before and after, at temperature 1 and greedy',
}

/** `temperature 1`, `greedy`. */
export function wayOf({ temperature }: { temperature: number }): string {
  return temperature === 0 ? 'greedy' : `temperature ${temperature}`
}

/** `0.612 [0.551, 0.673]`: success with its interval, else the mean reward. */
export function measuredText({ success, interval, reward }: EvaluationRecord): string {
  const value = success ?? reward
  const range = interval === null ? '' : ` [${interval.map((end) => scoreText(end)).join(', ')}]`
  return `${scoreText(value)}${range}`
}

/** `+0.381 [+0.332, +0.430]`, or why there is none. */
export function changeText({ difference, reason }: BeforeAfter): string {
  if (difference === null)
    return reason === undefined ? 'none' : `not compared: ${printableLine(reason, 120)}`
  const { interval } = difference.newTasks
  const range = interval === null ? '' : ` [${interval.map((end) => signedText(end)).join(', ')}]`
  return `${signedText(difference.difference)}${range}`
}

/** Parameters of a model, short: `0.10 M`. */
function sizeText(parameters: number): string {
  return parameters < 10_000 ? countText(parameters) : `${(parameters / 1e6).toFixed(2)} M`
}

/** How a training ended. */
export const endTexts: Record<EndRecord['reason'], string> = {
  done: 'done',
  budget: 'its budget is spent',
  plateau: 'validation rises no more',
  collapse: 'success collapsed',
  cancelled: 'cancelled',
  not_finite: 'a loss or gradient was no number',
  all_dead: 'no groups left to learn from',
  all_unscored: 'no rollout was scored',
  failed: 'failed',
}

/** Headings of the two columns of figures: which weights they are of. */
export function columnsOf({ pairs, verdict }: TrainingSummary): [before: string, after: string] {
  const { before, after } = pairs[0] ?? {}
  const last = verdict === 'unchanged' ? 'last step' : 'after'
  return [
    before === undefined ? 'before' : `before (step ${countText(before.step)})`,
    after === undefined ? last : `${last} (step ${countText(after.step)})`,
  ]
}

/** What it was trained in, with the options that were given: `@quintain/wordle 0.1.0 (game=code)`. */
export function environmentText({ environment, training }: TrainingSummary): string {
  const given = Object.entries(training.environmentOptions ?? {}).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const options = given.length === 0 ? '' : ` (${given.join(', ')})`
  return printableLine(`${environment.name} ${environment.version}${options}`, 120)
}

/** Who trained what, how, and how far it came. */
export function trainingTitle(summary: TrainingSummary): string {
  const { training, steps, planned, elapsedS, measuringS, end } = summary
  const { algorithm, engine } = training
  const state = end === null ? 'not ended' : endTexts[end.reason]
  const measuring = measuringS > 0 ? `, and ${durationText(measuringS * 1000)} of measurements` : ''
  return [
    environmentText(summary),
    printableLine(algorithm.recipe, 40),
    `${printableLine(engine.name, 40)}, ${sizeText(engine.model.parameters)} parameters`,
    `${stepsText(steps, planned, ' of ')} ${planned === 1 ? 'step' : 'steps'} in ${durationText(elapsedS * 1000)}${measuring} (${state})`,
  ].join(' · ')
}

/** What the pairs were measured on, with the numbers behind an interval. */
export function pairsNote({ pairs, environment, training, verdict }: TrainingSummary): string | undefined {
  const [first] = pairs
  if (first === undefined) return undefined
  const { after, role, difference } = first
  const flattered =
    verdict === 'unchanged'
      ? ', those of the last step beside those of the beginning'
      : `, on which the checkpoint was chosen, so this flatters it (${training.splits.test === null ? 'there is no test split' : 'test tasks were not measured again'})`
  const chosen = role === 'validation' ? flattered : ''
  return `${environment.success ? 'Success' : 'Mean reward'} on ${plural(after.tasks, `${role} task`)}${chosen}, ${plural(after.rollouts, 'rollout')} each time; 95 %, new tasks${difference === null ? '' : `; change paired over ${plural(difference.pairs, 'task')}`}.`
}

/** What a training came to, for a terminal: title, before and after, verdict, alarms. */
export function formatTraining(
  summary: TrainingSummary,
  { style = plainStyle }: { style?: Style } = {},
): string {
  const { pairs, verdict, alarms, standing, end, issues } = summary
  const lines = [style.bold(trainingTitle(summary))]
  if (end === null)
    lines.push(
      style.yellow(
        `It is still running, or was killed; then npx quintain resume ${printableLine(summary.dir, 200)} goes on with it.`,
      ),
    )
  else if (end.reason !== 'done') lines.push(style.yellow(printableLine(end.says, 1_000)))
  lines.push('')
  if (pairs.length > 0) {
    const rows = pairs.map((pair) => [
      wayOf(pair),
      measuredText(pair.before),
      measuredText(pair.after),
      changeText(pair),
    ])
    lines.push(formatTable(['', ...columnsOf(summary), 'change'], rows, style).trimEnd())
    const note = pairsNote(summary)
    if (note !== undefined) lines.push(style.dim(note))
    lines.push('', `${verdictTexts[verdict]}.`)
  } else lines.push('Nothing was measured before and after.')
  // Of what still stands the latest figures are told, once.
  const still = new Map(standing.map((alarm) => [alarm.watch, alarm.says]))
  const lastRang = new Map(alarms.map(({ watch, step }) => [watch, step]))
  for (const { step, watch, says } of alarms) {
    const now = lastRang.get(watch) === step ? still.get(watch) : undefined
    lines.push(
      '',
      `${style.yellow(`alarm ${watch}`)} at step ${step}${now === undefined ? '' : ', and still so at the end'}: ${printableLine(now ?? says, 600)}`,
    )
  }
  const told = new Set(alarms.map(({ watch }) => watch))
  for (const { watch, says } of standing)
    if (!told.has(watch))
      lines.push('', `${style.yellow(`alarm ${watch}`)} at the end: ${printableLine(says, 600)}`)
  for (const { file, detail } of issues)
    lines.push('', style.yellow(printableLine(`${file}, ${detail}`, 300)))
  return `${lines.join('\n')}\n`
}
