import { availableParallelism } from 'node:os'
import { QuintainError } from '../../core/errors.ts'
import { EmbeddedLearner } from './embedded-learner.ts'
import type { Room } from './engine-memory.ts'
import { initialWeights } from './initial-weights.ts'
import { readEmbeddedShape, readLearnerState } from './learner-state.ts'
import { checkedShape, type EmbeddedShape } from './shape.ts'

/** How a learner uses the machine. */
export interface EmbeddedOptions {
  /** Threads; as many as the machine has cores, at most 8, when absent. */
  threads?: number
  /** Most tokens that a thread trains on at once, which bounds its memory; 1,024 when absent. */
  microBatch?: number
  /** Sequences whose keys and values a thread keeps for sampling; as many as 64 MiB hold, at most 1,024, when absent. */
  slots?: number
}

const mostThreads = 8
const mostSlots = 1024
/**
 * Rows of one decode: enough to keep the products busy, and no more than have their keys and values close to the processor.
 * 128 sequences at 0.8 M parameters are sampled a seventh quicker by 32 at a time than all at once.
 */
const leastRows = 32
const mostRows = 256
const closeBytes = 4 * 2 ** 20
const cacheBytes = 64 * 2 ** 20

/**
 * A policy with random weights that are the same for the same seed. Throws `options_invalid` for a shape or options that do not
 * do.
 *
 * @example
 * const learner = await createEmbedded({
 *   shape: { layers: 2, width: 64, heads: 4, feedForward: 256, vocabulary: 40, context: 48 },
 *   seed: '1',
 * })
 */
export async function createEmbedded(
  options: { shape: EmbeddedShape; seed: string } & EmbeddedOptions,
): Promise<EmbeddedLearner> {
  const shape = checkedShape(options.shape)
  return await EmbeddedLearner.open(shape, roomFor(shape, options), {
    version: 0,
    weights: initialWeights(shape, options.seed),
  })
}

/**
 * A learner as `save` wrote it, without its optimiser where `optimiser` is false. Throws
 * `checkpoint_invalid`, and `options_invalid` for options that do not do.
 */
export async function loadEmbedded(
  folder: string,
  options: { optimiser?: boolean } & EmbeddedOptions = {},
): Promise<EmbeddedLearner> {
  const shape = await readEmbeddedShape(folder)
  const { optimiser = true } = options
  return await EmbeddedLearner.open(
    shape,
    roomFor(shape, options),
    await readLearnerState(folder, shape, { optimiser }),
  )
}

/** Throws `options_invalid` for a number out of range. */
export function roomFor(shape: EmbeddedShape, options: EmbeddedOptions): Room {
  const slotBytes = 4 * 2 * shape.layers * shape.width * Math.ceil(shape.context / 8) * 8
  const {
    threads = Math.min(mostThreads, availableParallelism()),
    microBatch = 1024,
    slots = Math.min(mostSlots, Math.max(8, Math.floor(cacheBytes / slotBytes))),
  } = options
  return {
    threads: checked('threads', threads, 1, 64),
    // A sequence is computed at once.
    tokens: Math.max(checked('microBatch', microBatch, 1, 65_536), shape.context),
    slots: checked('slots', slots, 1, 4096),
    rows: Math.min(mostRows, Math.max(leastRows, Math.floor(closeBytes / slotBytes / 4) * 4)),
  }
}

function checked(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new QuintainError(
    'options_invalid',
    `${name} of the embedded engine is ${value}, and must be a whole number from ${least} to ${most}.`,
    { facts: { name, value } },
  )
}
