import { z } from 'zod'
import { QuintainError } from '../../core/index.ts'
import type { TrainOptions } from './train-options.ts'

/** Of a task in one measurement. */
const mostRepeats = 10_000

const measured = z.object({
  tasks: z.int().min(1).exactOptional(),
  repeats: z.int().min(1).max(mostRepeats).exactOptional(),
})
const split = z.union([z.string(), z.literal(false), z.object({ share: z.number().min(0).lt(1) })])
const pool = z.object({ most: z.number().min(0).max(1), weight: z.number().min(0) })

/**
 * What a training was asked for beside its algorithm, as `train.json` keeps it under `options`: with this a training that is
 * taken up goes on as it began.
 */
const settings = z.object({
  splits: z.object({
    train: z.string().exactOptional(),
    validation: split.exactOptional(),
    test: split.exactOptional(),
  }),
  tasks: z.int().min(1).exactOptional(),
  sampling: z.object({
    temperature: z.number().positive(),
    topP: z.number().positive().max(1).exactOptional(),
    maxTokens: z.int().min(1).exactOptional(),
    stop: z.array(z.string()).exactOptional(),
  }),
  mode: z.union([z.literal('sync'), z.object({ async: z.int().min(1) })]),
  stragglers: z.union([
    z.literal('wait'),
    z.object({ policy: z.literal('over_order'), extra: z.int().min(1) }),
    z.object({ policy: z.literal('resume_long'), share: z.number().positive().max(1) }),
    z.object({
      policy: z.literal('partial_groups'),
      atLeast: z.int().min(2),
      share: z.number().positive().max(1),
    }),
  ]),
  curriculum: z.union([
    z.literal('uniform'),
    z.object({
      pools: z.object({ hard: pool, normal: pool, easy: pool.pick({ weight: true }) }),
    }),
  ]),
  evaluate: z.union([
    z.literal(false),
    z.object({
      every: z.int().min(1),
      validation: measured.exactOptional(),
      train: z.union([measured, z.literal(false)]).exactOptional(),
      test: z.union([measured, z.literal(false)]).exactOptional(),
      greedy: z.boolean().exactOptional(),
    }),
  ]),
  checkpointEvery: z.int().min(1),
  keep: z.enum(['best_and_last', 'all']),
  budget: z
    .object({
      seconds: z.number().positive().exactOptional(),
      tokens: z.number().positive().exactOptional(),
      rollouts: z.number().positive().exactOptional(),
    })
    .exactOptional(),
  plateau: z.int().min(1).exactOptional(),
  collapse: z.boolean(),
  shadow: z.string().exactOptional(),
})
export type Settings = z.infer<typeof settings>

const evaluateEvery = 10
const checkpointEvery = 20

/** What is asked for, with defaults. Throws `options_invalid` naming the option. */
export function settingsOf(options: TrainOptions): Settings {
  const { splits, tasks, sampling, mode, stragglers, curriculum, evaluate, keep, budget, plateau, collapse } =
    options
  const given = {
    splits: splits ?? {},
    tasks,
    sampling: { temperature: 1, ...sampling },
    mode: mode ?? 'sync',
    stragglers: stragglers ?? 'wait',
    curriculum: curriculum ?? 'uniform',
    evaluate: evaluate ?? { every: evaluateEvery },
    checkpointEvery: options.checkpointEvery ?? checkpointEvery,
    keep: keep ?? 'best_and_last',
    budget,
    plateau,
    collapse: collapse ?? true,
    ...(typeof options.shadow === 'string' ? { shadow: options.shadow } : {}),
  }
  // As it is written down: without what was not given.
  const written: unknown = JSON.parse(JSON.stringify(given))
  return parsed(written, 'options_invalid', 'The training cannot be made as it is asked for')
}

/** What `train.json` says of it. Throws `run_corrupt`. */
export function readSettings(recorded: unknown): Settings {
  return parsed(recorded, 'run_corrupt', 'train.json does not say how its training is to go on')
}

/** The same for whoever only tells of it; undefined where it does not say. */
export function settingsIn(recorded: unknown): Settings | undefined {
  return settings.safeParse(recorded).data
}

function parsed(value: unknown, code: 'options_invalid' | 'run_corrupt', what: string): Settings {
  const found = settings.safeParse(value)
  if (found.success) return found.data
  const [issue] = found.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new QuintainError(code, `${what}: ${field}: ${issue?.message}.`, { facts: { field } })
}
