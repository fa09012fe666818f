import type { SeatClock } from './seat.ts'

/**
 * The agent's clock as the calls of its model stop it. It stands still while any call of the seat queues or backs off,
 * and what turns out afterwards to have been waiting is given back once, however many calls waited at the same time.
 */
export class WaitingClock {
  private readonly clock: SeatClock | undefined
  /** Calls that queue or back off right now. */
  private waiting = 0
  /** Until when time was given back. */
  private creditedTo = 0

  constructor(clock: SeatClock | undefined) {
    this.clock = clock
  }

  /** Begins the account of one call. */
  call(): CallWait {
    return new CallWait(this)
  }

  begin(): void {
    if (this.waiting++ === 0) this.clock?.pause()
  }

  end(): void {
    if (--this.waiting === 0) this.clock?.resume()
  }

  /** Gives back `ms` of a call that lasted from `since` to now. */
  credit(ms: number, since: number): void {
    if (!(ms > 0)) return
    const at = performance.now()
    this.clock?.credit(Math.min(ms, at - Math.max(since, this.creditedTo)))
    this.creditedTo = at
  }
}

/** The waiting of one call. */
class CallWait {
  private readonly clock: WaitingClock
  private readonly startedAt = performance.now()
  private since: number | undefined
  private seenMs = 0

  constructor(clock: WaitingClock) {
    this.clock = clock
  }

  tell(waiting: boolean): void {
    if (waiting === (this.since !== undefined)) return
    if (this.since === undefined) {
      this.since = performance.now()
      this.clock.begin()
    } else {
      this.seenMs += performance.now() - this.since
      this.since = undefined
      this.clock.end()
    }
  }

  /** The call is through, and says how long it waited in all. */
  settle(waitMs: number): void {
    this.tell(false)
    this.clock.credit(waitMs - this.seenMs, this.startedAt)
  }
}
