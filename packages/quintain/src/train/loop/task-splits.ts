import { createRng, didYouMean, QuintainError } from '../../core/index.ts'
import type { TaskSummary } from '../../engine/index.ts'
import type { TrainingRecord } from '../records.ts'
import type { Splits } from './train-options.ts'

/** Tasks of an environment by what they are for. No task is in two of them. */
export interface SplitTasks {
  /** By name, for the record; a part of the training split has a name of its own. */
  names: TrainingRecord['splits']
  /** Learned from. */
  train: readonly TaskSummary[]
  /** Choose the checkpoint. */
  validation: readonly TaskSummary[]
  /** Reported, and neither learned from nor chosen by. */
  test: readonly TaskSummary[]
}

/** How tasks were parted: into which, how many of each, and which of them are a part of the training split. */
export interface Parted {
  names: TrainingRecord['splits']
  counts: { train: number; validation: number; test: number }
}

/**
 * Share of the training split that is held out where the environment has no split for it, and how many tasks that is at
 * most. Of few tasks a tenth says nothing, so that it is as many as `fewHeldOut`, and never more than a quarter.
 */
const heldOutShare = 0.1
const mostHeldOut = 128
const fewHeldOut = 8
const mostShare = 0.25

type Role = 'validation' | 'test'

/** Names of the parts of a training split. */
const partNames = {
  validation: (train: string) => `${train}-held-out`,
  test: (train: string) => `${train}-reported`,
} satisfies Record<Role, (train: string) => string>

/** Options of the command line by what they name, for messages. */
const optionOf = { train: '--split', validation: '--validation-split', test: '--test-split' } as const

/**
 * Parts tasks by what they are for. Where the environment has no split for validation or test tasks, or the one that it has is
 * trained on, a part of the training split is drawn for them by the seed and held out of training. `read`: no more tasks than
 * that were read, and there may be others. Throws `usage` for a split that no task has, or that is asked for by name for two
 * things, and `no_tasks` where nothing is left to train on.
 */
export function splitTasks(
  tasks: readonly TaskSummary[],
  wanted: Splits,
  { seed, read }: { seed: string; read?: number | undefined },
): SplitTasks {
  const known = [...new Set(tasks.map(({ split }) => split))]
  const named = (role: keyof typeof optionOf, name: string): string => {
    if (known.includes(name)) return name
    throw new QuintainError(
      'usage',
      `There is no split "${name}" for ${role} (${optionOf[role]})${didYouMean(name, known)} Splits: ${known.join(', ')}.`,
      { facts: { role, split: name, known } },
    )
  }
  const train = wanted.train === undefined ? defaultTrain(known, read) : named('train', wanted.train)
  const given = (role: Role) => (typeof wanted[role] === 'string' ? named(role, wanted[role]) : undefined)
  const byName = { validation: given('validation'), test: given('test') }
  refuseTwice(train, byName)
  const taken = [train, byName.validation, byName.test]
  const usual = (role: Role) => (known.includes(role) && !taken.includes(role) ? role : undefined)
  /** A split of its own; undefined where it is a part of the training split, or nothing. */
  const own = (role: Role) => byName[role] ?? (wanted[role] === undefined ? usual(role) : undefined)
  const splits = { validation: own('validation'), test: own('test') }

  const of = (name: string) => tasks.filter(({ split }) => split === name)
  const all = of(train)
  if (all.length === 0) {
    throw new QuintainError('no_tasks', `Split "${train}" has no tasks to train on.`, {
      facts: { split: train },
    })
  }
  const countOf = (role: Role) => (splits[role] === undefined ? heldOutCount(wanted[role], all.length) : 0)
  const counts = { validation: countOf('validation'), test: countOf('test') }
  if (counts.validation + counts.test >= all.length) {
    throw new QuintainError(
      'no_tasks',
      `Of the ${all.length} tasks of split "${train}" none is left to train on: ${counts.validation} are to choose the checkpoint and ${counts.test} to be reported. Give smaller shares (--validation-split, --test-split), or none.`,
      { facts: { split: train, ...counts } },
    )
  }
  // By place and not by id, so that the draw is one of chance whatever the ids are.
  const drawn = createRng(`${seed}/held-out`).shuffle(all.map(({ index }) => index))
  const parts = {
    validation: new Set(drawn.slice(0, counts.validation)),
    test: new Set(drawn.slice(counts.validation, counts.validation + counts.test)),
  }
  const tasksOf = (role: Role) => {
    const split = splits[role]
    return split === undefined ? all.filter(({ index }) => parts[role].has(index)) : of(split)
  }
  const nameOf = (role: Role) => splits[role] ?? (counts[role] > 0 ? partNames[role](train) : null)
  const cut = (['validation', 'test'] as const).filter((role) => counts[role] > 0)
  return {
    names: {
      train,
      validation: nameOf('validation'),
      test: nameOf('test'),
      ...(cut.length === 0 ? {} : { parts: cut }),
    },
    train: all.filter(({ index }) => !parts.validation.has(index) && !parts.test.has(index)),
    validation: tasksOf('validation'),
    test: tasksOf('test'),
  }
}

/** What was made of them, for whoever tells of it. */
export function partedOf({ names, train, validation, test }: SplitTasks): Parted {
  return { names, counts: { train: train.length, validation: validation.length, test: test.length } }
}

/** The splits of a training that goes on: what it began without, it goes on without. */
export function recordedSplits(
  wanted: Splits,
  { train, validation, test }: TrainingRecord['splits'],
): Splits {
  return {
    ...wanted,
    train,
    ...(validation === null ? { validation: false } : {}),
    ...(test === null ? { test: false } : {}),
  }
}

/** Throws `usage` where one split is asked for by name for two things. */
function refuseTwice(train: string, { validation, test }: Record<Role, string | undefined>): void {
  const twice =
    validation === train
      ? (['train', 'validation'] as const)
      : test === train
        ? (['train', 'test'] as const)
        : validation !== undefined && validation === test
          ? (['validation', 'test'] as const)
          : undefined
  if (twice === undefined) return
  const split = validation === train || test === train ? train : validation
  const [first, second] = twice
  throw new QuintainError(
    'usage',
    `Split "${split}" is asked for two things, ${first} and ${second}. What is trained on, what chooses the checkpoint and what is reported are different tasks: leave ${optionOf[second]} out, and a part of the training split is drawn for it by the seed; or name another split, a share of the training split (${optionOf[second]} 20%), or none.`,
    { facts: { split } },
  )
}

function heldOutCount(wanted: Splits[Role], tasks: number): number {
  if (typeof wanted === 'object') return Math.floor(wanted.share * tasks)
  if (wanted !== undefined) return 0
  const usual = Math.min(mostHeldOut, Math.floor(heldOutShare * tasks))
  return Math.max(usual, Math.min(fewHeldOut, Math.floor(mostShare * tasks)))
}

function defaultTrain(known: readonly string[], read: number | undefined): string {
  if (known.includes('train')) return 'train'
  if (read !== undefined) {
    throw new QuintainError(
      'usage',
      `Of the ${read} tasks that were read (-n) none is of a split "train"; they are of ${known.join(', ')}. Read more, or say which split is trained on (--split NAME).`,
      { facts: { known, read } },
    )
  }
  if (known.length === 1) return known[0]!
  throw new QuintainError(
    'usage',
    `The environment has no split "train"; say which of its splits is trained on (--split NAME): ${known.join(', ')}.`,
    { facts: { known } },
  )
}
