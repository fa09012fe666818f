import { crc32 } from 'node:zlib'
import * as sample from '../../core/__fixtures__/run.ts'
import { type Fault, type FaultOwner, Journal, linePart } from '../../core/index.ts'
import type { Talk } from './talk.ts'

export { temporaryFolder } from '../../core/__fixtures__/run.ts'

export interface Recorded {
  talk: Talk
  reward?: number | null
  /** Whose fault it ended in. */
  fault?: FaultOwner
  cancelled?: boolean
  flags?: Record<string, number>
}

/** Writes a run with an order for each attempt; undefined is an order that has none. */
export async function writeRun(
  dir: string,
  attempts: readonly (Recorded | undefined)[],
  id = sample.manifest().id,
): Promise<void> {
  const journal = await Journal.create(dir, { ...sample.manifest(), id })
  try {
    await journal.appendOrders([sample.request, ...attempts.map((_, seq) => sample.order(seq))])
    for (const [seq, recorded] of attempts.entries()) {
      if (recorded === undefined) continue
      const { talk, reward = 1, fault: owner, cancelled = false, flags } = recorded
      const { attempt, ...parts } = sample.entry(seq, { reward })
      const fault: Fault | null =
        owner === undefined
          ? null
          : { owner, stage: 'model', code: 'broke', message: 'It broke.', retryable: false }
      const ids = { attempt: attempt.id, order: attempt.order, task: attempt.task }
      const tokens = talk.tokens
      const graded = fault === null && !cancelled
      await journal.appendAttempt({
        ...parts,
        attempt: {
          ...attempt,
          ...(flags === undefined ? {} : { counts: { ...attempt.counts, flags } }),
          fault,
          verdict: graded ? attempt.verdict : null,
          outcome: cancelled ? 'cancelled' : attempt.outcome,
        },
        trajectory: linePart({ ...talk.trajectory, ...ids }),
        tokens: tokens && { bytes: tokens, crc: crc32(tokens) },
      })
    }
  } finally {
    await journal.close()
  }
}
