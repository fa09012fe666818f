import { join } from 'node:path'
import { type ManifestRecord, messageOf, readManifest } from '../core/index.ts'
import type { RunIssue } from '../core/run-folder.ts'
import { compareRuns, type Difference } from '../report/index.ts'
import { stepOfPath } from './loop/checkpoints.ts'
import { bestOf, validationsIn } from './loop/stop-rules.ts'
import type { EndRecord, EvaluationRecord, StepLine, StepRecord, TrainingRecord } from './records.ts'
import { historyOf, plannedSteps, readTraining } from './training-folder.ts'
import { type Alarm, standingAlarms } from './watches.ts'

/** One way of playing, measured before and after on tasks that were not trained on. */
export interface BeforeAfter {
  role: 'validation' | 'test'
  split: string
  /** 0 is greedy. */
  temperature: number
  before: EvaluationRecord
  after: EvaluationRecord
  /** After less before, paired by task; null where the two runs cannot be compared. */
  difference: Difference | null
  /** Why not. */
  reason?: string
}

/**
 * What the pairs show. `better`: sampled and greedy play both rose. `more_reliable`: play at temperature 1 alone rose, which
 * cooling might have done as well. `worse`: one fell and none rose. `mixed`: one rose and the other fell, or greedy play
 * rose alone. `no_difference`: nothing beyond chance. `unchanged`: validation chose the policy as it began. `unknown`: not
 * measured before and after in both ways.
 */
export type Verdict =
  | 'better'
  | 'more_reliable'
  | 'mixed'
  | 'no_difference'
  | 'unchanged'
  | 'worse'
  | 'unknown'

/** What a training came to; also the JSON of `quintain train`. */
export interface TrainingSummary {
  schema: 'quintain.training-summary'
  v: 1
  dir: string
  environment: Pick<ManifestRecord['environment'], 'name' | 'version' | 'reference' | 'options' | 'success'>
  training: TrainingRecord
  /** Steps that were made, and that were to be made in all. */
  steps: number
  planned: number
  elapsedS: number
  /** Seconds of the measurements, which `elapsedS` does not count. */
  measuringS: number
  rollouts: number
  trainedTokens: number
  /** Null while it goes on, or where it was killed. */
  end: Pick<EndRecord, 'reason' | 'says' | 'best'> | null
  /** Step whose checkpoint stands for the training, which validation chose; the last one where nothing chose. */
  chosen: number
  /** Before, and with the chosen checkpoint (the last step, where that is the policy as it began). Of test tasks; of validation tasks where there are none, or where they were not measured again. */
  pairs: BeforeAfter[]
  verdict: Verdict
  /** In the order in which they rang. */
  alarms: (Alarm & { step: number })[]
  /** What the watches would still say at the end. */
  standing: Alarm[]
  issues: RunIssue[]
}

/** What a training wrote down, and what follows from it. Throws what `readTraining` and `readManifest` throw. */
export async function summarizeTraining(
  dir: string,
): Promise<{ summary: TrainingSummary; history: StepLine[] }> {
  const { record, lines, issues } = await readTraining(dir)
  const { environment } = await readManifest(dir)
  const history = historyOf(lines)
  const steps = history.filter((line): line is StepRecord => line.kind === 'step')
  const end = history.find((line): line is EndRecord => line.kind === 'end')
  const made = steps.at(-1)?.step ?? 0
  const chosen = chosenStep(history, end, made)
  // Measured again, and not better: a training that was cut short before that says nothing.
  const isUnchanged = chosen === 0 && validationsIn(history).some(({ step }) => step > 0)
  const pairs = await beforeAfter(dir, history, chosen === 0 ? made : chosen)
  const { name, version, reference, options, success } = environment
  const summary: TrainingSummary = {
    schema: 'quintain.training-summary',
    v: 1,
    dir,
    environment: { name, version, reference, options, success },
    training: record,
    steps: made,
    planned: Math.max(made, plannedSteps(record, lines)),
    elapsedS: history.at(-1)?.elapsedS ?? 0,
    measuringS: history.reduce(
      (sum, line) => sum + (line.kind === 'evaluation' ? (line.seconds ?? 0) : 0),
      0,
    ),
    rollouts: steps.reduce((sum, step) => sum + step.rollouts, 0),
    trainedTokens: steps.reduce((sum, step) => sum + step.trainedTokens, 0),
    end: end === undefined ? null : { reason: end.reason, says: end.says, best: end.best },
    chosen,
    pairs,
    verdict: isUnchanged ? 'unchanged' : verdictOf(pairs),
    alarms: steps.flatMap(({ step, alarms }) => alarms.map((alarm) => ({ ...alarm, step }))),
    standing: standingAlarms(history),
    issues,
  }
  return { summary, history }
}

/** By what the end says, or by the measurements until now. */
function chosenStep(history: readonly StepLine[], end: EndRecord | undefined, made: number): number {
  if (end?.best != null) return stepOfPath(end.best) ?? made
  return bestOf(validationsIn(history))?.step ?? made
}

async function beforeAfter(dir: string, history: readonly StepLine[], step: number): Promise<BeforeAfter[]> {
  const measured = history.filter((line): line is EvaluationRecord => line.kind === 'evaluation')
  for (const role of ['test', 'validation'] as const) {
    const pairs: BeforeAfter[] = []
    for (const temperature of [1, 0]) {
      const at = measured.filter((one) => one.role === role && one.temperature === temperature)
      const [before, after] = [at[0], at.find((one) => one.step === step)]
      if (before === undefined || after === undefined || before.step === after.step) continue
      const { split } = before
      pairs.push({ role, split, temperature, before, after, ...(await differenceOf(dir, before, after)) })
    }
    if (pairs.length > 0) return pairs
  }
  return []
}

async function differenceOf(
  dir: string,
  before: EvaluationRecord,
  after: EvaluationRecord,
): Promise<Pick<BeforeAfter, 'difference' | 'reason'>> {
  try {
    const { pairs } = await compareRuns([join(dir, before.run), join(dir, after.run)])
    return { difference: pairs[0]?.success ?? pairs[0]?.reward ?? null }
  } catch (error) {
    // The runs may have been taken away; what was measured of each is still in the records.
    return { difference: null, reason: messageOf(error).replaceAll(`${dir}/`, '') }
  }
}

/** What a verdict needs of a difference. */
interface Intervalled {
  difference: number | null
  newTasks: Pick<Difference['newTasks'], 'interval'>
}

/** Which way a difference goes beyond chance: its interval for new tasks leaves out zero. */
function directionOf({ newTasks: { interval } }: Intervalled): 'up' | 'down' | 'unclear' {
  if (interval === null) return 'unclear'
  if (interval[0] > 0) return 'up'
  return interval[1] < 0 ? 'down' : 'unclear'
}

/** What the measurements before and after show together. */
export function verdictOf(
  pairs: readonly { temperature: number; difference: Intervalled | null }[],
): Verdict {
  const of = (temperature: number) => pairs.find((pair) => pair.temperature === temperature)?.difference
  const [atOne, atZero] = [of(1), of(0)]
  if (atOne?.difference == null || atZero?.difference == null) return 'unknown'
  const [sampled, greedy] = [directionOf(atOne), directionOf(atZero)]
  if (sampled === 'up') return greedy === 'up' ? 'better' : greedy === 'down' ? 'mixed' : 'more_reliable'
  if (greedy === 'up') return 'mixed'
  return sampled === 'down' || greedy === 'down' ? 'worse' : 'no_difference'
}
