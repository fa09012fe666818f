import { resolve } from 'node:path'
import { QuintainError } from '../../core/index.ts'
import { resumeRolloutRun } from '../../engine/index.ts'
import { checkAlgorithm } from '../recipes.ts'
import type { StepRecord } from '../records.ts'
import { historyOf, plannedSteps, readTraining, trainingFiles } from '../training-folder.ts'
import { assemble, memberMaker } from './assemble.ts'
import { checkBounds } from './check-bounds.ts'
import { checkParts, checkSameTraining } from './check-training.ts'
import { checkSameSources } from './checkpoint-source.ts'
import { Checkpoints } from './checkpoints.ts'
import type { PlayedGroup } from './group-source.ts'
import type { Lessons } from './learn.ts'
import { loadCheckpoint } from './load-checkpoint.ts'
import { PlayedBefore } from './played-before.ts'
import { SeatPolicy } from './seat-policy.ts'
import { readSettings } from './settings.ts'
import { StepsLog } from './steps-log.ts'
import { bestOf, validationsIn } from './stop-rules.ts'
import { partedOf, recordedSplits, type SplitTasks, splitTasks } from './task-splits.ts'
import { type ResumeTrainingOptions, type TrainingEnd, withoutSitting } from './train-options.ts'
import { begun, noted, rateOfStep, type TrainingParts, trainOn } from './training.ts'
import { checkUnchanged } from './training-record.ts'
import { wholeLog } from './whole-log.ts'

/**
 * Takes a training up where it stands: loads its last checkpoint into the learner, goes through the steps after it again
 * from the records (the same rollouts, token by token), plays what was ordered and not finished, and goes on. With a
 * deterministic engine the weights are then, bit for bit, those that it would have had.
 *
 * A checkpoint that cannot be read is made again from an earlier one, where there is one (`onNote` is told).
 *
 * Throws `run_not_found`, `run_locked`, `run_mismatch` (the environment has changed), `training_mismatch` (another recipe,
 * shape, renderer, reference or teacher than it began with, by name, or a `train.json` whose algorithm or seed was changed),
 * `run_corrupt` (`steps.jsonl` lacks what checkpoints or rollouts show) and `checkpoint_invalid` (none of its checkpoints can be read); else as `train`.
 */
export async function resumeTraining(options: ResumeTrainingOptions): Promise<TrainingEnd> {
  const { learner, renderer, reference, teacher } = options
  const dir = resolve(options.cwd ?? '.', options.dir)
  const { record, lines } = await readTraining(dir)
  const given = options.algorithm === undefined ? undefined : checkAlgorithm(options.algorithm)
  checkUnchanged(record)
  checkSameTraining(record, { learner, algorithm: given })
  checkSameSources(record, options)
  const others = { ...(reference && { reference }), ...(teacher && { teacher }) }
  const steps = options.steps ?? plannedSteps(record, lines)
  checkParts({ learner, renderer, algorithm: record.algorithm, ...others })
  const settings = readSettings(record.options)
  checkBounds({ ...settings, steps, algorithm: record.algorithm, concurrency: options.concurrency })
  let splits: SplitTasks | undefined
  const policy = await SeatPolicy.open({ learner, renderer, seed: record.seed })
  try {
    const run = await resumeRolloutRun({
      ...withoutSitting(options),
      dir,
      model: policy.model,
      ...(settings.tasks === undefined ? {} : { tasks: settings.tasks }),
      onOpened: ({ tasks }) => {
        splits = splitTasks(tasks, recordedSplits(settings.splits, record.splits), { seed: record.seed })
      },
    })
    return await trainOn(run, async () => {
      // Read again: until the run was locked another trainer may have been at it.
      const fold = await readTraining(dir)
      const made = await wholeLog(fold)
      const last = made.at(-1)?.step ?? 0
      const checkpoints = await Checkpoints.open({ dir, learner, renderer, keep: settings.keep })
      const log = await StepsLog.open(dir, fold.lines)
      const beginning = { record, settings, sitting: options }
      const played = new PlayedBefore(run, log.lines, memberMaker(beginning))
      const parts = assemble({
        ...beginning,
        splits: splits!,
        steps,
        run,
        policy,
        log,
        checkpoints,
        step: last,
        drawn: played.drawn,
      })
      const best = bestOf(validationsIn(historyOf(log.lines)))?.step
      const loaded = await loadCheckpoint(checkpoints, { best, note: (text) => noted(options, text) })
      if (loaded === undefined) await beginAnew(parts.lessons, last)
      for (const step of made) {
        played.tell(step, parts.draw)
        if (loaded !== undefined && step.step <= loaded.step) continue
        await learnAgain(step, await played.groupsOf(step), parts)
        if (loaded?.lost.has(step.step)) await checkpoints.save(step.step)
      }
      await policy.renew(learner)
      parts.source.takeUp(await played.openGroups(learner.version))
      begun(options, partedOf(splits!))
      tellNewRate(parts, plannedSteps(record, fold.lines), made.at(-1))
      return parts
    })
  } finally {
    await policy.close()
  }
}

/** The learning rate falls to the end of a training: with another end the next step has another than it was to have. */
function tellNewRate(parts: TrainingParts, before: number, last: StepRecord | undefined): void {
  const { steps, record, sitting } = parts
  if (last === undefined || steps === before || record.algorithm.adam.decayTo === 1) return
  const rate = (of: number) => of.toPrecision(3)
  const now = rateOfStep(last.step + 1, parts, last.elapsedS)
  noted(
    sitting,
    `The learning rate falls over ${steps} steps now, not over ${before}: step ${last.step + 1} has ${rate(now)}, step ${last.step} had ${rate(last.learningRate)}.`,
  )
}

/** Killed before it had written anything, a training begins with what it is given. Throws `checkpoint_invalid` for another. */
async function beginAnew(lessons: Lessons, last: number): Promise<void> {
  if (last === 0) return await lessons.begin()
  throw new QuintainError(
    'checkpoint_invalid',
    `Of ${last} steps that were made there is no checkpoint, so that the training cannot go on. Begin a new one.`,
    { facts: { last } },
  )
}

/** A step once more, with the rate that it had. Throws `run_corrupt` where it does not lead to where it led. */
async function learnAgain(
  { step, groups, learningRate, version }: StepRecord,
  played: readonly PlayedGroup[],
  { lessons, learner }: Pick<TrainingParts, 'lessons' | 'learner'>,
): Promise<void> {
  if (groups.length > 0) await lessons.learn(step, played, learningRate)
  if (learner.version === version) return
  throw new QuintainError(
    'run_corrupt',
    `Step ${step} led to ${version} optimiser steps and leads to ${learner.version} now: checkpoints and ${trainingFiles.steps} are not of one training. Begin a new one from a checkpoint.`,
    { facts: { step, version, now: learner.version } },
  )
}
