import { QuintainError } from '../../core/errors.ts'
import type { Datum, LossFunction, LossValue } from '../engine.ts'
import type { EngineThreads } from './engine-threads.ts'
import type { BatchRef, Job } from './jobs.ts'
import type { DataShare, Part } from './micro-batches.ts'
import type { ThreadBatches } from './thread-batches.ts'

/** Of each datum by its place in the data; a thread fills those of its share. */
export interface Scores {
  logprobs: Float32Array[]
  entropies: Float32Array[]
}

interface Share {
  threads: EngineThreads
  thread: number
  batches: ThreadBatches
  data: readonly Datum[]
  /** Where the packed weights lie. */
  packed: number
  scores: Scores
}

/** Scores a share of the data on a thread, a piece after the other. */
export async function scoreShare(share: Share, parts: DataShare): Promise<void> {
  for (const piece of parts.flat()) await scorePiece(share, piece)
}

async function scorePiece(share: Share, piece: readonly number[]): Promise<void> {
  const { threads, thread, batches, data, packed } = share
  const batch = batches.write(
    0,
    piece.map((at) => data[at]!),
  )
  await threads.ask(thread, { kind: 'forward', batch, packed })[0]
  read(share, piece, batch)
}

/** What a thread gathers in a lane. */
export interface LaneShare {
  lane: number
  /** The gradient of the lane is cleared first. */
  fresh: boolean
  parts: DataShare
  /** What the loss says of each part. */
  values: LossValue[]
}

/**
 * Adds the gradients of the lanes of a thread. While a part goes back the next one stands ready behind it, so that the thread
 * waits for this one only while the loss is computed. Settles when the thread does nothing of it any more, whether it failed or
 * not; throws `not_finite` naming the datum, and whatever the loss throws.
 */
export async function trainShare(
  share: Share & { loss: LossFunction },
  lanes: readonly LaneShare[],
): Promise<void> {
  const { threads, thread, batches, data, packed, loss } = share
  const sent: Promise<number>[] = []
  const parts = lanes.flatMap((lane) => lane.parts.map((part) => ({ lane, part })))
  let ahead: { batch: BatchRef; done: Promise<number> } | undefined
  const prepare = (place: 0 | 1, piece: readonly number[]): BatchRef =>
    batches.write(
      place,
      piece.map((at) => data[at]!),
    )
  const slopesOf = ({ values }: LaneShare, members: readonly number[]): Float32Array[] => {
    const own = members.map((at) => data[at]!)
    const value = loss(
      own,
      members.map((at) => share.scores.logprobs[at]!),
    )
    checkValue(value, members, own)
    values.push(value)
    return value.gradients
  }
  try {
    for (const [index, { lane, part }] of parts.entries()) {
      if (part.length > 1) {
        await trainPieces(lane, part)
        continue
      }
      const piece = part[0]!
      const place = (index % 2) as 0 | 1
      const batch: BatchRef = ahead?.batch ?? prepare(place, piece)
      await (ahead?.done ?? threads.ask(thread, { kind: 'forward', batch, packed })[0])
      ahead = undefined
      read(share, piece, batch)
      batches.writeSlopes(batch, slopesOf(lane, piece))
      const next = parts[index + 1]?.part
      if (next?.length === 1) {
        const following = prepare(place === 0 ? 1 : 0, next[0]!)
        const [back, done] = threads.ask(thread, backward(lane, batch), {
          kind: 'forward',
          batch: following,
          packed,
        })
        sent.push(back!, done!)
        ahead = { batch: following, done: done! }
      } else {
        sent.push(...threads.ask(thread, backward(lane, batch)))
      }
    }
    await Promise.all(sent)
  } finally {
    await Promise.allSettled(sent)
  }

  /** A unit that no micro-batch holds is scored as a whole, and then computed again piece by piece on the way back. */
  async function trainPieces(lane: LaneShare, part: Part): Promise<void> {
    await Promise.all(sent)
    for (const piece of part) await scorePiece(share, piece)
    const slopes = slopesOf(lane, part.flat())
    let at = 0
    for (const piece of part) {
      const batch = prepare(0, piece)
      batches.writeSlopes(batch, slopes.slice(at, at + piece.length))
      at += piece.length
      await Promise.all(threads.ask(thread, { kind: 'forward', batch, packed }, backward(lane, batch)))
    }
  }
}

/** The job that adds to a lane, which is not fresh any more then. */
function backward(lane: LaneShare, batch: BatchRef): Job {
  const { fresh } = lane
  lane.fresh = false
  return { kind: 'backward', batch, lane: lane.lane, fresh }
}

function read(
  { batches, scores }: Pick<Share, 'batches' | 'scores'>,
  piece: readonly number[],
  batch: BatchRef,
): void {
  const logprobs = batches.logprobs(batch)
  const entropies = batches.entropies(batch)
  for (const [index, at] of piece.entries()) {
    const wrong = logprobs[index]!.findIndex((value) => !Number.isFinite(value))
    if (wrong >= 0) {
      throw new QuintainError(
        'not_finite',
        `The log-probability of target ${wrong} of datum ${at} is ${logprobs[index]![wrong]}: the weights have left what numbers can hold. Go back to an earlier checkpoint and lower the learning rate.`,
        { facts: { datum: at, target: wrong } },
      )
    }
    scores.logprobs[at] = logprobs[index]!
    scores.entropies[at] = entropies[index]!
  }
}

function checkValue(value: LossValue, members: readonly number[], data: readonly Datum[]): void {
  if (value.gradients.length !== data.length) {
    throw new QuintainError(
      'datum_invalid',
      `The loss gave ${value.gradients.length} gradients for ${data.length} datums. It must give one for each.`,
    )
  }
  for (const [index, at] of members.entries()) {
    const gradient = value.gradients[index]!
    if (gradient.length !== data[index]!.target.length) {
      throw new QuintainError(
        'datum_invalid',
        `The loss gave ${gradient.length} numbers for the ${data[index]!.target.length} targets of datum ${at}. It must give one for each.`,
        { facts: { datum: at } },
      )
    }
    const wrong = gradient.findIndex((slope) => !Number.isFinite(slope))
    if (wrong >= 0) {
      throw notFinite(`its gradient at target ${wrong} of datum ${at} is ${gradient[wrong]}`, {
        datum: at,
        target: wrong,
      })
    }
  }
  if (!Number.isFinite(value.loss)) {
    throw notFinite(`of the datums ${members[0]} to ${members.at(-1)} it is ${value.loss}`, {
      datum: members[0],
    })
  }
}

function notFinite(what: string, facts: Record<string, unknown>): QuintainError {
  return new QuintainError(
    'not_finite',
    `The loss is no number: ${what}. The gradient is as it was before; look at the weights, advantages and log-probabilities of that datum.`,
    { facts },
  )
}
