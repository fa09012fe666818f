import { plural, printableLine } from '../report/index.ts'
import type { Parted } from '../train/loop/index.ts'

/** Validation tasks below which the best of several checkpoints is the luckiest one. */
const fewTasks = 8

/**
 * What is told before a training begins: which tasks are for what, and what is too little to say anything. `measured` is how
 * many validation tasks are played at most.
 */
export function trainingNotes({ names, counts }: Parted, measured = Number.POSITIVE_INFINITY): string[] {
  const { train, validation, test, parts = [] } = names
  const from = (role: 'validation' | 'test', name: string) =>
    parts.includes(role) ? 'drawn from it by the seed' : `of split ${printableLine(name, 60)}`
  const uses = [
    `${plural(counts.train, 'task')} of split ${printableLine(train, 60)}`,
    ...(validation === null
      ? []
      : [`${plural(counts.validation, 'task')} ${from('validation', validation)} to choose the checkpoint`]),
    ...(test === null ? [] : [`${plural(counts.test, 'task')} ${from('test', test)} to be reported`]),
  ]
  const notes = [`Trains on ${uses.join('; ')}.`]
  const choosing = Math.min(counts.validation, measured)
  if (validation === null)
    notes.push('No validation tasks: nothing chooses a checkpoint, and the last one stands for the training.')
  else if (choosing < fewTasks)
    notes.push(
      `${plural(choosing, 'validation task')} ${choosing === 1 ? 'says' : 'say'} next to nothing: the best checkpoint will be the luckiest one. Give the environment more tasks, or a larger share of them (--validation-split 25%).`,
    )
  return notes
}
