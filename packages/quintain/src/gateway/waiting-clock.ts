import { now } from '../core/own-time.ts'
import { Intervals } from './intervals.ts'
import type { SeatClock } from './seat.ts'

/**
 * The agent's clock as the calls of its model stop it. It stands still while every call of the seat that is under way
 * queues or backs off: while one is answered, or while the agent is seen to work, its time goes on. What turns out
 * afterwards to have been waiting, since a try failed, is given back once, where no other call was being answered.
 */
export class WaitingClock {
  private readonly clock: SeatClock | undefined
  private readonly calls = new Set<CallWait>()
  /** Since when the clock stands still. */
  private pausedAt: number | undefined
  /** Since when the agent works although all of its calls wait. */
  private workingAt: number | undefined
  /** Time that is no waiting, or was given back. */
  private readonly settled = new Intervals()

  constructor(clock: SeatClock | undefined) {
    this.clock = clock
  }

  /** Begins the account of one call. */
  call(): CallWait {
    const call = new CallWait(() => this.look(), this.end)
    this.calls.add(call)
    this.look()
    return call
  }

  /** The agent did something else than to wait for its model: its time goes on until another of its calls waits. */
  worked(): void {
    if (this.pausedAt === undefined) return
    this.resume()
    this.workingAt = now()
  }

  /** A call waits, goes on, begins or ends. */
  private look(): void {
    this.stopWorking()
    const wait = this.allWait()
    if (wait && this.pausedAt === undefined) {
      this.pausedAt = now()
      this.clock?.pause()
    } else if (!wait) this.resume()
  }

  private allWait(): boolean {
    for (const { since } of this.calls) if (since === undefined) return false
    return this.calls.size > 0
  }

  private resume(): void {
    if (this.pausedAt === undefined) return
    this.settled.add(this.pausedAt, now())
    this.pausedAt = undefined
    this.clock?.resume()
  }

  private stopWorking(): void {
    if (this.workingAt !== undefined) this.settled.add(this.workingAt, now())
    this.workingAt = undefined
  }

  /** Ends the account of a call that waited for `waitMs` in all. Tries fail before one succeeds, so that comes first. */
  private readonly end = (call: CallWait, waitMs: number): void => {
    this.calls.delete(call)
    this.look()
    const at = now()
    const { startedAt } = call
    const answeredFrom = waitMs > 0 ? Math.min(startedAt + waitMs, at) : startedAt
    // Nearly every call: no other was under way with it.
    if (this.calls.size === 0 && this.settled.empty) {
      if (answeredFrom > startedAt) this.clock?.credit(answeredFrom - startedAt)
      return
    }
    const ms = this.unsettled(startedAt, answeredFrom)
    if (ms > 0) {
      this.clock?.credit(ms)
      this.settled.add(startedAt, answeredFrom)
    }
    if (this.calls.size === 0) this.settled.clear()
    else this.settled.add(answeredFrom, at)
  }

  /** How much of a stretch was waiting as far as the other calls are concerned, and was not given back. */
  private unsettled(from: number, to: number): number {
    if (!(to > from)) return 0
    const taken = this.settled.copy()
    for (const other of this.calls) taken.add(other.startedAt, other.since ?? to)
    return taken.free(from, to)
  }
}

/** The waiting of one call. */
export class CallWait {
  readonly startedAt = now()
  /** Since when it waits. */
  since: number | undefined
  private readonly changed: () => void
  private readonly ended: (call: CallWait, waitMs: number) => void

  constructor(changed: () => void, ended: (call: CallWait, waitMs: number) => void) {
    this.changed = changed
    this.ended = ended
  }

  tell(waiting: boolean): void {
    if (waiting === (this.since !== undefined)) return
    this.since = waiting ? now() : undefined
    this.changed()
  }

  /** The call is through, and says how long it waited in all. */
  end(waitMs: number): void {
    this.ended(this, waitMs)
  }
}
