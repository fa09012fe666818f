import { clearInterval, now, setInterval } from '../core/own-time.ts'

/** Something with deadlines, which it looks at itself. */
export interface Ticked {
  tick(now: number): void
}

/**
 * One timer for all calls of a client that are under way: two of their own each would be the larger part of what a
 * call costs. Runs only while there are calls. A deadline is noticed late by up to `everyMs`.
 */
export class Ticker {
  private readonly members = new Set<Ticked>()
  private readonly everyMs: number
  private timer: NodeJS.Timeout | undefined

  constructor(everyMs: number) {
    this.everyMs = everyMs
  }

  add(member: Ticked): void {
    this.members.add(member)
    // What is under way keeps the process alive by itself.
    this.timer ??= setInterval(() => this.tick(), this.everyMs).unref()
  }

  delete(member: Ticked): void {
    this.members.delete(member)
  }

  private tick(): void {
    const at = now()
    for (const member of this.members) member.tick(at)
    if (this.members.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
