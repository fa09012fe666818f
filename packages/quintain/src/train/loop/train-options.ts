import type { Environment, Sampling } from '../../core/index.ts'
import type { RolloutRunOptions } from '../../engine/index.ts'
import type { Learner, Sampler } from '../engine.ts'
import type { Algorithm, EndRecord, EvaluationRecord, StepRecord } from '../records.ts'
import type { Renderer } from '../renderer.ts'
import type { Shadow } from './member.ts'
import type { Parted } from './task-splits.ts'

/**
 * Whether rollouts stand still while the learner learns. `sync`: all that a step learns from was sampled with the weights
 * that it begins with. `async`: rollouts go on meanwhile, and what is learned from is at most so many steps old, as counted
 * when it is consumed. The bound is kept by ordering no more than can be consumed in time; what is older all the same is
 * left out and counted (`stale`).
 */
export type TrainingMode = 'sync' | { async: number }

/**
 * What a step does about rollouts that take long. Nothing is dropped without being counted: every order is consumed by a
 * step, or stands among `leftGroups` with its reason.
 *
 * - `wait`: for all of them. No bias; a step takes as long as its slowest rollout.
 * - `over_order`: `extra` groups above those wanted are in flight, and a step takes the first that are whole. The others go
 *   on under the next weights and come to a later step. Bias: the quick are learned from earlier, so that the first steps see
 *   fewer long rollouts than there are; none is lost, and the long ones are a step or more off-policy.
 * - `resume_long`: a step begins once `share` of its groups are whole; the others go on as above and count for the next one.
 *   The same bias with no extra work; steps vary in size.
 * - `partial_groups`: once `share` of a step's rollouts have ended, groups with at least `atLeast` of theirs are learned from
 *   as they are. Bias: what ends late, which is often what is long or hard, is never learned from (`late`), and the group's
 *   mean is that of its quick members.
 */
export type Stragglers =
  | 'wait'
  | { policy: 'over_order'; extra: number }
  | { policy: 'resume_long'; share: number }
  | { policy: 'partial_groups'; atLeast: number; share: number }

/**
 * How tasks are drawn. `uniform`: all in an order of chance, then all again. Pools: by what share of a task's latest group
 * succeeded, as prime-rl has it; tasks that were not seen yet are `normal`. A weight is that of a task of the pool.
 */
export type Curriculum = 'uniform' | { pools: Pools }

export interface Pools {
  /** Up to this share of successes. */
  hard: { most: number; weight: number }
  normal: { most: number; weight: number }
  easy: { weight: number }
}

/** prime-rl's: tasks that always fail, and those that nearly always succeed, come a fifth as often. */
export const defaultPools: Pools = {
  hard: { most: 0.25, weight: 0.2 },
  normal: { most: 0.75, weight: 1 },
  easy: { weight: 0.2 },
}

/** What is measured, and when. Tasks are the first of their split. */
export interface EvaluationPlan {
  /** Every so many steps, before the first and after the last. */
  every: number
  /** Chooses the checkpoint; up to 256 tasks when absent. */
  validation?: Measured
  /** Tasks that are trained on, looked at for the gap; 32 of them when absent. */
  train?: Measured | false
  /** Measured before the first step and after the last, and never looked at in between; all when absent. */
  test?: Measured | false
  /** Also with the likeliest tokens; on when absent. */
  greedy?: boolean
}

export interface Measured {
  tasks?: number
  repeats?: number
}

/** Ends a training that has gone far enough, or gone wrong. */
export interface StopRules {
  /** Seconds of steps, evaluations left out; sampled tokens; rollouts. */
  budget?: { seconds?: number; tokens?: number; rollouts?: number }
  /** Validation has not been better than its best for so many evaluations. */
  plateau?: number
  /** Success has fallen far below its best, or play has become one game while rewards fall; on when absent. */
  collapse?: boolean
}

/** Which tasks are for what. */
export interface Splits {
  /** `train`, or the only split that there is, when absent. */
  train?: string
  /** `validation` where the environment has it, else a share of the tasks of `train` that is then not trained on. */
  validation?: string | { share: number } | false
  /** `test` where the environment has it, else a further share of the tasks of `train`. */
  test?: string | { share: number } | false
}

/** What comes with every sitting of a training: what no record can hold. */
export interface Sitting
  extends Pick<
    RolloutRunOptions,
    'concurrency' | 'workers' | 'boxes' | 'judges' | 'seats' | 'openSandbox' | 'openRecordings' | 'cwd'
  > {
  dir: string
  /** Begins as it is; a training that is taken up loads its own weights into it. */
  learner: Learner
  /** Its KL is taken against these weights. */
  reference?: Sampler
  /** Says what it would have said: on-policy distillation. */
  teacher?: Sampler
  /** Checkpoints that the reference and the teacher were loaded from: a training goes on with those that it began with. */
  referenceFrom?: CheckpointSource
  teacherFrom?: CheckpointSource
  /** Looked at beside the reward and never trained on: a metric of the environment, or a function of the rollout. */
  shadow?: Shadow
  signal?: AbortSignal
  /** Once, before the first rollout: nothing that can be known beforehand stands in its way. */
  onBegin?: (parted: Parted) => void
  /** Of what went wrong and was mended, such as a checkpoint that could not be read. */
  onNote?: (text: string) => void
  onStep?: (step: StepRecord) => void
  onEvaluation?: (evaluation: EvaluationRecord) => void
}

/** Where a policy was opened from. */
export interface CheckpointSource {
  path: string
  digest: string
}

export interface TrainOptions
  extends Sitting,
    StopRules,
    Pick<RolloutRunOptions, 'options' | 'limits' | 'isolation' | 'sandbox' | 'maxTries'> {
  env: string | Environment
  renderer: Renderer
  algorithm: Algorithm
  steps: number
  seed?: string | number
  splits?: Splits
  /** So many tasks of the environment are read; endless ones need it. */
  tasks?: number
  /** Of training; temperature 1 when absent. */
  sampling?: Pick<Sampling, 'temperature' | 'topP' | 'maxTokens' | 'stop'>
  mode?: TrainingMode
  stragglers?: Stragglers
  curriculum?: Curriculum
  evaluate?: EvaluationPlan | false
  /** Steps from one checkpoint to the next; 20 when absent. */
  checkpointEvery?: number
  /** Which checkpoints are kept: the best and the last when absent. */
  keep?: 'best_and_last' | 'all'
  /** Checkpoint that the learner was loaded from, for the record. */
  from?: CheckpointSource
}

export interface ResumeTrainingOptions extends Sitting {
  /** The environment object of a training that was made with one. */
  env?: Environment
  /** Refused as `training_mismatch` where it differs from what the training began with. */
  algorithm?: Algorithm
  renderer: Renderer
  /** Steps in all, where there are to be more than were asked for. */
  steps?: number
  /** Go on although the environment's files differ from those of the beginning. */
  force?: boolean
}

/** Options without what is the training's own each time: what is left is for the run. */
export function withoutSitting<
  Options extends Sitting & Pick<ResumeTrainingOptions, 'renderer' | 'algorithm' | 'steps'>,
>({
  learner: _learner,
  renderer: _renderer,
  algorithm: _algorithm,
  steps: _steps,
  reference: _reference,
  teacher: _teacher,
  referenceFrom: _referenceFrom,
  teacherFrom: _teacherFrom,
  shadow: _shadow,
  signal: _signal,
  onBegin: _onBegin,
  onNote: _onNote,
  onStep: _onStep,
  onEvaluation: _onEvaluation,
  ...run
}: Options) {
  return run
}

/** What a training came to. */
export interface TrainingEnd extends Pick<EndRecord, 'reason' | 'says' | 'step' | 'best'> {
  dir: string
  /** Why it failed, where `reason` is `failed` or `not_finite`. */
  error?: unknown
}
