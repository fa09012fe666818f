import { messageOf, QuintainError } from '../../core/index.ts'
import type { RolloutRun } from '../../engine/index.ts'
import type { Learner } from '../engine.ts'
import { learningRateAt } from '../learning-rate.ts'
import { learnsFrom } from '../recipes.ts'
import type { EndRecord, EvaluationRecord, LeftGroup, StepRecord, TrainingRecord } from '../records.ts'
import { historyOf } from '../training-folder.ts'
import { alarmsAt } from '../watches.ts'
import { type Checkpoints, pathOf as checkpointPath } from './checkpoints.ts'
import { type Measurement, measure, measurementsOf } from './evaluations.ts'
import type { GroupSource, PlayedGroup, Taken } from './group-source.ts'
import type { BadBatch, Lessons } from './learn.ts'
import { whyUnreadable } from './load-checkpoint.ts'
import type { SeatPolicy } from './seat-policy.ts'
import type { Settings } from './settings.ts'
import { stepRecordOf, successShare } from './step-record.ts'
import type { StepsLog } from './steps-log.ts'
import { bestOf, type Stop, stopOf, validationsIn } from './stop-rules.ts'
import type { TaskDraw } from './task-draw.ts'
import type { Parted, SplitTasks } from './task-splits.ts'
import type { Sitting, TrainingEnd } from './train-options.ts'

/** A training that is ready to go on from where it stands. */
export interface TrainingParts {
  record: TrainingRecord
  settings: Settings
  splits: SplitTasks
  /** Steps in all. */
  steps: number
  run: RolloutRun
  policy: SeatPolicy
  learner: Learner
  draw: TaskDraw
  source: GroupSource
  lessons: Lessons
  log: StepsLog
  checkpoints: Checkpoints
  sitting: Pick<Sitting, 'signal' | 'onNote' | 'onStep' | 'onEvaluation'>
}

const now = (): number => performance.now() / 1000

/** Goes through the steps of a training to its end. Never rejects: what goes wrong is the reason of the end. */
class Training {
  private readonly parts: TrainingParts
  private readonly measurements: readonly Measurement[]
  private step: number
  private elapsedS: number
  /** What a step was given, until its line is written. */
  private pending: Taken | undefined
  /** Why a rollout of the last step has no reward. */
  private unscored: string | undefined

  constructor(parts: TrainingParts) {
    this.parts = parts
    const { evaluate } = parts.settings
    this.measurements = evaluate === false ? [] : measurementsOf(evaluate, parts.splits)
    const last = this.history.findLast((line): line is StepRecord => line.kind === 'step')
    this.step = last?.step ?? 0
    this.elapsedS = last?.elapsedS ?? 0
  }

  async go(): Promise<TrainingEnd> {
    const { sitting, source, run } = this.parts
    const cancel = () => {
      source.stop()
      run.stop()
    }
    if (sitting.signal?.aborted === true) cancel()
    sitting.signal?.addEventListener('abort', cancel)
    let stop: Stop
    let error: unknown
    try {
      stop = await this.throughSteps()
      if (stop.reason !== 'cancelled') await this.finish()
    } catch (thrown) {
      error = thrown
      stop = this.failed(thrown)
    } finally {
      sitting.signal?.removeEventListener('abort', cancel)
    }
    try {
      return await this.end(stop, error)
    } finally {
      await this.stopPlaying()
    }
  }

  private get history() {
    return historyOf(this.parts.log.lines)
  }

  private get isCancelled(): boolean {
    return this.parts.sitting.signal?.aborted === true
  }

  private async throughSteps(): Promise<Stop> {
    const { steps } = this.parts
    for (;;) {
      await this.settle()
      if (this.isCancelled) return cancelled
      const stop = stopOf(this.parts.log.lines, this.parts.settings, this.unscored)
      if (stop !== undefined) return stop
      if (this.step >= steps) return { reason: 'done', says: `All ${steps} steps were made.` }
      if (!(await this.makeStep(this.step + 1))) return cancelled
    }
  }

  /** Everything that is due after the step that was made last and is not there yet. */
  private async settle(): Promise<void> {
    const { settings, checkpoints } = this.parts
    const { evaluate, checkpointEvery } = settings
    const isFirst = this.step === 0
    if (isFirst || this.step % checkpointEvery === 0) await this.checkpoint()
    if (evaluate === false || this.step % evaluate.every !== 0) return
    const due = this.measurements.filter(({ role }) => role !== 'test' || isFirst)
    await this.evaluate(due)
    await checkpoints.prune(this.wanted())
  }

  /** One step: groups, lessons, its line, the next weights. False when it was cancelled before it had its groups. */
  private async makeStep(step: number): Promise<boolean> {
    const { source, run, policy, learner, lessons, draw, log, sitting } = this.parts
    const began = now()
    const taken = await source.take(step)
    this.pending = taken
    if (taken.stopped) return false
    // The log names what a step has consumed: it is on disk before the line that does.
    await run.flush()
    const gathered = now()
    const { version } = learner
    const learningRate = rateOfStep(step, this.parts, this.elapsedS)
    const { groups, left } = taken
    const learned = groups.length === 0 ? undefined : await lessons.learn(step, groups, learningRate)
    const trained = now()
    const came = [...groups, ...left.map(({ group }) => group)]
    for (const group of came) draw.saw(group.task, successShare(group))
    this.unscored = came.flatMap(({ members }) => members).find((member) => member.unscored)?.unscored
    const elapsedS = this.elapsedS + now() - began
    const seconds = { rollouts: gathered - began, training: trained - gathered, other: now() - trained }
    const { algorithm } = this.parts.record
    const tolerance = learnsFrom(algorithm) === 'rewards' ? algorithm.tolerance : undefined
    const record = stepRecordOf({ step, elapsedS, seconds, learningRate, taken, version, tolerance, learned })
    record.alarms = alarmsAt(this.history, record)
    await log.append(record)
    this.pending = undefined
    this.step = step
    this.elapsedS = elapsedS
    if (learned !== undefined) await policy.renew(learner)
    source.weightsOf(step)
    told(() => sitting.onStep?.(record))
    return true
  }

  /** Measures what was not measured yet at this step. */
  private async evaluate(due: readonly Measurement[]): Promise<void> {
    for (const one of due) {
      if (this.isCancelled) return
      if (this.isMeasured(one, this.step)) continue
      const found = await this.measured(one, this.step)
      if (found === undefined) return
      const before = this.bestValidation()
      // A checkpoint that validation chooses is there before the line that says so.
      if (bestOf([...(before === undefined ? [] : [before]), ...validationsIn([found])]) === found)
        await this.parts.checkpoints.save(this.step)
      await this.tell(found)
    }
  }

  private async tell(evaluation: EvaluationRecord): Promise<void> {
    await this.parts.log.append(evaluation)
    told(() => this.parts.sitting.onEvaluation?.(evaluation))
  }

  private isMeasured({ role, temperature }: Measurement, step: number): boolean {
    return this.history.some(
      (line) =>
        line.kind === 'evaluation' &&
        line.role === role &&
        line.step === step &&
        line.temperature === temperature,
    )
  }

  private measured(one: Measurement, step: number): Promise<EvaluationRecord | undefined> {
    const { run, learner, settings, sitting } = this.parts
    const { sampling } = settings
    const { signal } = sitting
    const policy = learner.capabilities.name
    return measure(run, one, { step, elapsedS: this.elapsedS, policy, sampling, ...(signal && { signal }) })
  }

  private async checkpoint(): Promise<void> {
    const { checkpoints } = this.parts
    await checkpoints.save(this.step)
    await checkpoints.prune(this.wanted())
  }

  /** Steps whose checkpoints are kept: the best, the last, and the first where a KL term is taken against it. */
  private wanted(): Set<number> {
    const { checkpoints, record } = this.parts
    const isReference = record.algorithm.kl !== undefined && record.reference === undefined
    const steps = [this.bestStep(), checkpoints.newestFirst[0], isReference ? 0 : undefined]
    return new Set(steps.filter((step) => step !== undefined))
  }

  private bestStep(): number | undefined {
    return this.bestValidation()?.step
  }

  /** Of those whose checkpoint is there. */
  private bestValidation(): EvaluationRecord | undefined {
    const { checkpoints } = this.parts
    return bestOf(validationsIn(this.history).filter(({ step }) => checkpoints.has(step)))
  }

  /** Takes up the checkpoint that validation chose; the next best where one has become unreadable. Gives its step, if there is one. */
  private async takeBest(): Promise<number | undefined> {
    const { checkpoints, policy, learner, sitting } = this.parts
    for (;;) {
      const best = this.bestStep()
      if (best === undefined || best === this.step) return best
      const error = await checkpoints.tryLoad(best)
      if (error === undefined) {
        await policy.renew(learner)
        return best
      }
      noted(
        sitting,
        `${checkpointPath(best)}, which validation chose, cannot be read any more (${whyUnreadable(error)}). Validation chooses among the others.`,
      )
    }
  }

  /** The last measurements; test tasks are played with the weights that validation chose. */
  private async finish(): Promise<void> {
    const { checkpoints } = this.parts
    // What is still played comes to no step any more, and would go on with the weights of the best checkpoint.
    await this.stopPlaying()
    await this.checkpoint()
    await this.evaluate(this.measurements.filter(({ role }) => role !== 'test'))
    await checkpoints.prune(this.wanted())
    const measured = (await this.takeBest()) ?? this.step
    for (const one of this.measurements.filter(({ role }) => role === 'test')) {
      if (this.isCancelled || this.isMeasured(one, measured)) continue
      const found = await this.measured(one, measured)
      if (found !== undefined) await this.tell(found)
    }
  }

  private failed(thrown: unknown): Stop {
    const { checkpoints, run } = this.parts
    const last = checkpoints.newestFirst[0]
    const kept = last === undefined ? '' : ` The last good checkpoint is ${checkpointPath(last)}.`
    if (QuintainError.isInstance(thrown) && thrown.code === 'not_finite') {
      const batch = thrown.facts['batch'] as BadBatch | undefined
      const advice = 'Begin again from it with a lower learning rate or a smaller clip of the gradient.'
      // Weights that are none are found when they are to be written.
      if (batch === undefined) return { reason: 'not_finite', says: `${thrown.message}${kept} ${advice}` }
      const of = `minibatch ${batch.minibatch + 1} of pass ${batch.epoch + 1}, of the orders ${batch.orders.join(', ')}`
      return {
        reason: 'not_finite',
        says: `In step ${this.step + 1} the loss or the gradient was no number: ${thrown.message} It was ${of}.${kept} ${advice}`,
      }
    }
    if (QuintainError.isInstance(thrown) && thrown.code === 'prompt_invalid') {
      return {
        reason: 'all_unscored',
        says: `The policy cannot read what the environment says, so that no rollout was scored. ${thrown.message} Going on does not help: begin anew with another vocabulary, \`bytes\` or the environment's own where it has one.`,
      }
    }
    if (QuintainError.isInstance(thrown) && thrown.code === 'context_overflow') {
      const { context } = this.parts.learner.capabilities
      return {
        reason: 'all_dead',
        says: `${thrown.message} The context of the policy is ${context} tokens. Going on does not help: begin anew with a policy of a larger one (--context), or let the environment say less.`,
      }
    }
    return {
      reason: 'failed',
      says: `${messageOf(thrown)}${kept} \`quintain resume ${run.dir}\` goes on from there.`,
    }
  }

  /** Writes the end down, as far as that is possible. */
  private async end({ reason, says }: Stop, error: unknown): Promise<TrainingEnd> {
    const { log, run, source, steps, sitting } = this.parts
    const best = this.bestStep()
    if (reason === 'cancelled') {
      // The steps since the one before are gone through again then; nothing is lost by it.
      await this.checkpoint().catch((error: unknown) =>
        noted(sitting, `No checkpoint was written at the end: ${messageOf(error)}`),
      )
    }
    const open = [...this.unconsumed(reason), ...source.open()]
    const record: EndRecord = {
      schema: 'quintain.train-step',
      v: 1,
      kind: 'end',
      step: this.step,
      at: new Date().toISOString(),
      elapsedS: this.elapsedS,
      reason,
      says,
      ...(steps === this.parts.record.steps ? {} : { steps }),
      best: best === undefined ? null : checkpointPath(best),
      ...(open.length === 0 ? {} : { open }),
    }
    const written = await log.append(record).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    const { best: path } = record
    const failure = error ?? written
    return {
      dir: run.dir,
      reason,
      says,
      step: this.step,
      best: path,
      ...(failure === undefined ? {} : { error: failure }),
    }
  }

  /** What a step was given that was not made. */
  private unconsumed(reason: Stop['reason']): LeftGroup[] {
    const { groups = [], left = [] } = this.pending ?? {}
    const entry = ({ id, task, members }: PlayedGroup, why: string): LeftGroup => {
      return { id, task, orders: members.map(({ order }) => order), why }
    }
    return [
      ...groups.map((group) => entry(group, reason === 'not_finite' ? reason : 'unfinished')),
      ...left.map(({ group, why }) => entry(group, why)),
    ]
  }

  private async stopPlaying(): Promise<void> {
    const { source, run } = this.parts
    source.stop()
    run.stop()
    await source.ended()
  }
}

/** The learning rate of a step: it falls over steps or, where those are cut short by it, over the time of the budget. */
export function rateOfStep(
  step: number,
  { record, steps, settings }: Pick<TrainingParts, 'record' | 'steps' | 'settings'>,
  elapsedS: number,
): number {
  const bySteps = steps > 1 ? (step - 1) / (steps - 1) : 0
  const byTime = elapsedS / (settings.budget?.seconds ?? Number.POSITIVE_INFINITY)
  return learningRateAt(record.algorithm.adam, Math.max(bySteps, byTime))
}

const cancelled: Stop = {
  reason: 'cancelled',
  says: 'The training was cancelled. Everything that was recorded is kept: `quintain resume` goes on with it.',
}

/**
 * Prepares a training on a run that is open, goes through it, and closes the run. Rejects with what preparing throws; what
 * cannot be written when the run is closed is the error of its end.
 */
export async function trainOn(run: RolloutRun, prepare: () => Promise<TrainingParts>): Promise<TrainingEnd> {
  let parts: TrainingParts
  try {
    parts = await prepare()
  } catch (error) {
    await run.close().catch(() => {})
    throw error
  }
  const end = await new Training(parts).go()
  try {
    await run.close()
    return end
  } catch (error) {
    return { ...end, error: end.error ?? error }
  }
}

/** Tells that nothing stands in the way of the first rollout. */
export function begun({ onBegin }: Pick<Sitting, 'onBegin'>, parted: Parted): void {
  told(() => onBegin?.(parted))
}

/** Tells of what went wrong and was mended. */
export function noted({ onNote }: Pick<Sitting, 'onNote'>, text: string): void {
  told(() => onNote?.(text))
}

/** A display that breaks must not cost the training. */
function told(tell: () => void): void {
  try {
    tell()
  } catch {
    // It will say so itself.
  }
}
