import { QuintainError } from '../../core/index.ts'
import { type Checkpoints, pathOf } from './checkpoints.ts'

/** Where a training stands that was taken up. */
export interface Loaded {
  /** Step whose weights the learner has. */
  step: number
  /** Steps whose checkpoints cannot be read, to be written anew when they are gone through again. */
  lost: ReadonlySet<number>
}

interface LoadOptions {
  /** Step that validation chose, if one was. */
  best: number | undefined
  /** Told of each checkpoint that cannot be read, and what is done about it. */
  note: (text: string) => void
}

/**
 * Loads the checkpoint from which a training goes on: the newest that can be read or, where the one that validation chose cannot
 * be, the newest before it, so that it is made again on the way. Undefined where there is none at all. Throws
 * `checkpoint_invalid` where none can be read.
 */
export async function loadCheckpoint(
  checkpoints: Checkpoints,
  { best, note }: LoadOptions,
): Promise<Loaded | undefined> {
  const lost = new Map<number, QuintainError | undefined>()
  const load = async (steps: readonly number[]): Promise<number | undefined> => {
    for (const step of steps) {
      const error = await checkpoints.tryLoad(step)
      if (error === undefined) return step
      lost.set(step, error)
    }
    return undefined
  }
  const isBestLost = best !== undefined && (await load(checkpoints.has(best) ? [best] : [])) === undefined
  if (isBestLost && !lost.has(best)) lost.set(best, undefined)
  const before = isBestLost ? await load(checkpoints.newestFirst.filter((step) => step < best)) : undefined
  const step = before ?? (await load(checkpoints.newestFirst))
  if (step === undefined) {
    const [error] = [...lost.values()].filter((one) => one !== undefined)
    if (error === undefined) return undefined
    throw new QuintainError(
      'checkpoint_invalid',
      `None of the checkpoints of this training can be read, so it cannot go on (${whyUnreadable(error)}). Put one back from a copy, or begin a new training.`,
      { cause: error, facts: error.facts },
    )
  }
  for (const [one, error] of lost) note(noteOf(one, { error, from: step, isBest: one === best }))
  return { step, lost: new Set(lost.keys()) }
}

/** What is wrong with a checkpoint, without what is to be done about it. */
export function whyUnreadable({ facts, message }: QuintainError): string {
  return typeof facts['what'] === 'string' ? facts['what'] : message
}

function noteOf(
  step: number,
  { error, from, isBest }: { error: QuintainError | undefined; from: number; isBest: boolean },
): string {
  const why = error === undefined ? 'is not there any more' : `cannot be read (${whyUnreadable(error)})`
  const what = `${pathOf(step)}${isBest ? ', which validation chose,' : ''} ${why}`
  if (from < step) {
    return `${what}: it is made again from ${pathOf(from)} and the records of the steps after that.`
  }
  const without = isBest ? ' Validation chooses among the others.' : ''
  return `${what}, and there is no checkpoint before it to make it again from.${without}`
}
