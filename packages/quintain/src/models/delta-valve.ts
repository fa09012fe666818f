import type { ModelContext } from '../core/model.ts'
import type { ReplyDelta } from '../core/wire.ts'
import { untilAborted } from './until-aborted.ts'

/**
 * Tells the pieces of one call's reply to the one who listens, and says whether it keeps up. What the listener throws is
 * kept for the call to throw.
 */
export class DeltaValve {
  private readonly onDelta: NonNullable<ModelContext['onDelta']>
  private readonly redact: (delta: ReplyDelta) => ReplyDelta
  private open: Promise<void> | undefined
  /** What the listener threw. */
  failure: { thrown: unknown } | undefined
  /** Whether anything was told: it cannot be taken back. */
  told = false

  constructor(
    onDelta: NonNullable<ModelContext['onDelta']>,
    redact: (delta: ReplyDelta) => ReplyDelta = (delta) => delta,
  ) {
    this.onDelta = onDelta
    this.redact = redact
  }

  readonly tell = (delta: ReplyDelta): void => {
    if (this.failure !== undefined) return
    this.told = true
    try {
      const taken = this.onDelta(this.redact(delta))
      if (taken !== undefined) this.waitFor(taken)
    } catch (thrown) {
      this.failure = { thrown }
    }
  }

  /** What must come to pass before more is told; undefined when the listener keeps up. Throws what the listener threw. */
  readonly drained = (): Promise<void> | undefined => {
    if (this.failure !== undefined) throw this.failure.thrown
    return this.open
  }

  /** Waits until the listener has taken everything. Throws what it threw, and `cancelled` when the signal is aborted first. */
  async settle(signal: AbortSignal): Promise<void> {
    while (this.open !== undefined) await untilAborted(this.open, signal)
    if (this.failure !== undefined) throw this.failure.thrown
  }

  private waitFor(taken: Promise<void>): void {
    const all = this.open === undefined ? taken : Promise.all([this.open, taken]).then(() => {})
    const settled: Promise<void> = all
      .catch((thrown: unknown) => {
        this.failure ??= { thrown }
      })
      .then(() => {
        if (this.open === settled) this.open = undefined
      })
    this.open = settled
  }
}
