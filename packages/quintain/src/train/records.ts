import { z } from 'zod'

/**
 * The records of training, beside those of the run that it is: `train.json`, written once, and a line of `steps.jsonl` for
 * each step of the optimiser and each evaluation. A training run is an ordinary run whose folder has these beside it:
 *
 *   train.json  steps.jsonl  checkpoints/step-000040/{weights.safetensors,optimiser.safetensors,renderer.json,state.json}
 *   evals/<split>-<step>-<t1|greedy>/ (ordinary runs)
 */
export const algorithm = z.object({
  /** `grpo`, or the name of another recipe; `custom (grpo)` when numbers of one were changed. */
  recipe: z.string(),
  /** Tasks a step, and rollouts of each. */
  groups: z.int().min(1),
  groupSize: z.int().min(1),
  /** Parts into which the groups of a step go, with an optimiser step each. */
  minibatches: z.int().min(1),
  /** Times that a step's rollouts are gone through. */
  epochs: z.int().min(1),
  advantage: z.object({
    baseline: z.enum(['mean', 'leave_one_out', 'none']),
    /** By what the difference is divided. */
    scale: z.enum(['none', 'group_std', 'batch_std']),
    std: z.enum(['population', 'sample']),
    eps: z.number().min(0),
  }),
  loss: z.object({ name: z.string(), config: z.record(z.string(), z.number()).optional() }),
  /**
   * What a token's loss is divided by: the trained tokens of the batch (`token`), those of its rollout and then the rollouts
   * (`sequence`), or a constant length times the rollouts (`constant`).
   */
  normalise: z.enum(['token', 'sequence', 'constant']),
  constantLength: z.number().optional(),
  /** Groups without spread are left out; up to `refill` times as many groups as a step wants are ordered to make up. */
  filterZeroVariance: z.boolean(),
  tolerance: z.number().min(0),
  refill: z.number().min(1),
  /** DAPO's soft penalty: rollouts longer than `length - buffer` tokens lose up to `penalty`. */
  overlong: z.object({ length: z.number(), buffer: z.number(), penalty: z.number() }).optional(),
  /** Rollouts that were cut for their length are not trained on. */
  maskTruncated: z.boolean(),
  kl: z
    .object({
      coefficient: z.number(),
      where: z.enum(['reward', 'loss']),
      estimator: z.enum(['k1', 'k2', 'k3']),
    })
    .optional(),
  /** Process rewards: the steps of a reward, one a turn, whose advantage by turn is added `coefficient` times. */
  turns: z
    .object({
      coefficient: z.number(),
      /** What later turns count: 0 for the turn alone, 1 for all that follows. */
      discount: z.number().min(0).max(1),
      /** Reward or metric whose steps they are; the only one that has steps when absent. */
      component: z.string().optional(),
    })
    .optional(),
  /**
   * On-policy distillation: `coefficient` times log teacher - log sampler is the advantage of a token, added to that of its
   * reward (`rewards`) or instead of it.
   */
  teacher: z.object({ coefficient: z.number().positive(), rewards: z.boolean() }).optional(),
  /** Most that the weight of a token may be for the sampler's probability differing from the learner's. */
  truncateImportance: z.number().optional(),
  adam: z.object({
    learningRate: z.number(),
    /** Share of the rate that is left at the last step, on a straight line. */
    decayTo: z.number().min(0).max(1),
    beta1: z.number(),
    beta2: z.number(),
    eps: z.number(),
    weightDecay: z.number(),
    gradClipNorm: z.number(),
  }),
})
export type Algorithm = z.infer<typeof algorithm>

/** A group that came and was not trained on. */
const leftGroup = z.object({
  id: z.string(),
  task: z.string(),
  orders: z.array(z.string()),
  why: z.string(),
})
export type LeftGroup = z.infer<typeof leftGroup>

/** What is measured of the rollouts and the optimiser in a step, and the alarms that rang. Fractions are of rollouts. */
export const stepRecord = z.object({
  schema: z.literal('quintain.train-step'),
  v: z.literal(1),
  kind: z.literal('step'),
  /** From 1. */
  step: z.int(),
  at: z.string(),
  /** Seconds of the training so far, and of this step by part. */
  elapsedS: z.number(),
  seconds: z.object({ rollouts: z.number(), training: z.number(), other: z.number() }),
  /** The groups that were consumed, in order: what a resumed training goes through again. */
  groups: z.array(z.object({ id: z.string(), task: z.string(), orders: z.array(z.string()) })),
  /** Of the groups that came, what was not trained on, by reason: `zero_variance`, `stale`, `unscored`, `short`, `late`. */
  left: z.record(z.string(), z.int()),
  /** The same, each group with its reason. A group of which a part was trained on stands here with the others (`late`). */
  leftGroups: z.array(leftGroup).optional(),
  rollouts: z.int(),
  scored: z.int(),
  rewardMean: z.number().nullable(),
  rewardSpread: z.number().nullable(),
  success: z.number().nullable(),
  deadGroups: z.number().nullable(),
  truncated: z.number().nullable(),
  malformed: z.number().nullable(),
  tokensMean: z.number().nullable(),
  turnsMean: z.number().nullable(),
  trainedTokens: z.int(),
  /** Nats a token. */
  entropy: z.number().nullable(),
  loss: z.number().nullable(),
  gradNorm: z.number().nullable(),
  learningRate: z.number(),
  /** Mean of log q - log p over trained tokens, of the sampler against the learner before the step; and half its mean square. */
  mismatch: z.object({ k1: z.number(), k2: z.number(), maxRatio: z.number() }).nullable(),
  clipped: z.number().nullable(),
  kl: z.number().nullable(),
  /** Optimiser steps between the weights that sampled the oldest token consumed and the learner, at consumption. */
  staleness: z.object({ mean: z.number(), max: z.number() }),
  /** Of the shadow verifier, where there is one. */
  shadow: z.number().nullable(),
  version: z.int(),
  alarms: z.array(z.object({ watch: z.string(), says: z.string() })),
})
export type StepRecord = z.infer<typeof stepRecord>

export const evaluationRecord = z.object({
  schema: z.literal('quintain.train-step'),
  v: z.literal(1),
  kind: z.literal('evaluation'),
  step: z.int(),
  at: z.string(),
  elapsedS: z.number(),
  split: z.string(),
  /** `train` tasks are looked at for the gap, `validation` chooses the checkpoint, `test` is reported. */
  role: z.enum(['train', 'validation', 'test']),
  /** 0 is greedy. */
  temperature: z.number(),
  tasks: z.int(),
  rollouts: z.int(),
  scored: z.int(),
  success: z.number().nullable(),
  /** 95 %, over tasks. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
  reward: z.number().nullable(),
  /** Seconds that it took, which `elapsedS` does not count. */
  seconds: z.number().optional(),
  /** Folder of the run, from that of the training. */
  run: z.string(),
})
export type EvaluationRecord = z.infer<typeof evaluationRecord>

/** Why a training ended. `done`: all its steps. */
export const stopReasons = [
  'done',
  'budget',
  'plateau',
  'collapse',
  'cancelled',
  'not_finite',
  'all_dead',
  'all_unscored',
  'failed',
] as const

export const endRecord = z.object({
  schema: z.literal('quintain.train-step'),
  v: z.literal(1),
  kind: z.literal('end'),
  step: z.int(),
  at: z.string(),
  elapsedS: z.number(),
  reason: z.enum(stopReasons),
  says: z.string(),
  /** Steps that it was to make in all, where it was gone on with for more than it began with. */
  steps: z.int().optional(),
  /** Checkpoint that validation chose, from the folder of the training. */
  best: z.string().nullable(),
  /** Groups that were ordered and came to no step; a training that goes on begins with them. */
  open: z.array(leftGroup).optional(),
})
export type EndRecord = z.infer<typeof endRecord>

export const stepLine = z.discriminatedUnion('kind', [stepRecord, evaluationRecord, endRecord])
export type StepLine = z.infer<typeof stepLine>

const checkpointSource = z.object({ path: z.string(), digest: z.string() })

/** `train.json`. */
export const trainingRecord = z.object({
  schema: z.literal('quintain.training'),
  v: z.literal(1),
  created: z.string(),
  quintain: z.string(),
  algorithm,
  engine: z.object({
    name: z.string(),
    model: z.object({ kind: z.string(), parameters: z.number(), sizes: z.record(z.string(), z.number()) }),
  }),
  /** Checkpoint that it began from, and its digest. */
  from: checkpointSource.nullable(),
  /** Where the reference of a KL term, and a teacher, were opened from; absent where it was the policy as it began, or code. */
  reference: checkpointSource.optional(),
  teacher: checkpointSource.optional(),
  seed: z.string(),
  steps: z.int(),
  splits: z.object({
    train: z.string(),
    validation: z.string().nullable(),
    test: z.string().nullable(),
    /** Those that are no split of the environment but a part of its training split, drawn by the seed. */
    parts: z.array(z.enum(['validation', 'test'])).optional(),
  }),
  /** Options of the environment as they were given; those that it had then are in `run.json`. */
  environmentOptions: z.record(z.string(), z.unknown()).optional(),
  /** Everything else that was asked for, as typed. */
  options: z.record(z.string(), z.unknown()),
  /** Of the algorithm and the seed, by which a change of them is known; absent in records that older versions wrote. */
  digest: z.string().optional(),
})
export type TrainingRecord = z.infer<typeof trainingRecord>
