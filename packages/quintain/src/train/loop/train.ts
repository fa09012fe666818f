import { resolve } from 'node:path'
import { quintainVersion } from '../../core/version.ts'
import { openRolloutRun, type RolloutRunOptions } from '../../engine/index.ts'
import { checkAlgorithm } from '../recipes.ts'
import type { TrainingRecord } from '../records.ts'
import { assemble } from './assemble.ts'
import { checkBounds } from './check-bounds.ts'
import { checkFree, checkNeeds, checkParts, checkSettings, checkShadow } from './check-training.ts'
import { recordedSource } from './checkpoint-source.ts'
import { Checkpoints } from './checkpoints.ts'
import { SeatPolicy } from './seat-policy.ts'
import { settingsOf } from './settings.ts'
import { StepsLog } from './steps-log.ts'
import { partedOf, type SplitTasks, splitTasks } from './task-splits.ts'
import { type TrainingEnd, type TrainOptions, withoutSitting } from './train-options.ts'
import { begun, trainOn } from './training.ts'
import { writeTrainingRecord } from './training-record.ts'

/**
 * Trains a policy on an environment: groups of rollouts of its tasks, graded, compared with each other, and learned from,
 * step by step. The training is an ordinary run in `dir`, which `report`, `compare`, `show` and `rows` read; beside it lie
 * `train.json`, `steps.jsonl` (a line for each step and evaluation), `checkpoints/` and `evals/`.
 *
 * Tasks are parted into those that are learned from, those that choose the checkpoint and those that are reported; no task
 * is for two. With a deterministic engine and `mode: 'sync'` (and stragglers `wait`) the same seed gives the same training,
 * and one that was killed at any moment and is taken up (`resumeTraining`) goes on as if it had not been.
 *
 * Throws for everything that can be known before the first rollout: `options_invalid`, `usage`, `training_mismatch` and what
 * opening a run throws (`run_exists`, `needs_unmet`, …). After that it resolves, and what went wrong is the reason of its end.
 *
 * @example
 * const end = await train({ env: './wordle', dir: 'runs/one', learner, renderer, algorithm: recipe('grpo'), steps: 200 })
 */
export async function train(options: TrainOptions): Promise<TrainingEnd> {
  const { learner, renderer, steps, from, referenceFrom, teacherFrom, cwd } = options
  const environmentOptions = options.options
  const algorithm = checkAlgorithm(options.algorithm)
  checkParts({ ...options, algorithm })
  const settings = settingsOf(options)
  checkBounds({ ...settings, steps, algorithm, concurrency: options.concurrency })
  const seed = String(options.seed ?? 0)
  await checkFree(resolve(options.cwd ?? '.', options.dir))
  let splits: SplitTasks | undefined
  const policy = await SeatPolicy.open({ learner, renderer, seed })
  try {
    const run = await openRolloutRun({
      ...runOptionsOf(options),
      seed,
      model: policy.model,
      sampling: settings.sampling,
      onOpened: ({ tasks, environment, needs }) => {
        checkNeeds(needs, renderer)
        splits = splitTasks(tasks, settings.splits, { seed, read: settings.tasks })
        checkSettings(settings, algorithm, environment.rewards)
        checkShadow(settings.shadow, environment)
      },
    })
    return await trainOn(run, async () => {
      const { dir } = run
      const record: TrainingRecord = {
        schema: 'quintain.training',
        v: 1,
        created: new Date().toISOString(),
        quintain: quintainVersion,
        algorithm,
        engine: { name: learner.capabilities.name, model: learner.model },
        from: from === undefined ? null : recordedSource(from, dir, cwd),
        ...(referenceFrom && { reference: recordedSource(referenceFrom, dir, cwd) }),
        ...(teacherFrom && { teacher: recordedSource(teacherFrom, dir, cwd) }),
        seed,
        steps,
        splits: splits!.names,
        ...(environmentOptions === undefined ? {} : { environmentOptions }),
        options: settings,
      }
      await writeTrainingRecord(dir, record)
      const log = await StepsLog.open(dir)
      const checkpoints = await Checkpoints.open({ dir, learner, renderer, keep: settings.keep })
      const parts = assemble({
        record,
        settings,
        splits: splits!,
        steps,
        run,
        policy,
        log,
        checkpoints,
        sitting: options,
      })
      await parts.lessons.begin()
      begun(options, partedOf(splits!))
      return parts
    })
  } finally {
    await policy.close()
  }
}

/** What the run is opened with: all that is not the training's own. */
function runOptionsOf(options: TrainOptions): Omit<RolloutRunOptions, 'model' | 'sampling'> {
  const {
    splits: _splits,
    sampling: _sampling,
    mode: _mode,
    stragglers: _stragglers,
    curriculum: _curriculum,
    evaluate: _evaluate,
    checkpointEvery: _checkpointEvery,
    keep: _keep,
    from: _from,
    budget: _budget,
    plateau: _plateau,
    collapse: _collapse,
    ...run
  } = withoutSitting(options)
  return run
}
