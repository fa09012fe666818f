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
  /** Who rests, by the number of the tick that is theirs. */
  private readonly resting = new Map<number, Ticked[]>()
  private readonly everyMs: number
  private timer: NodeJS.Timeout | undefined

  constructor(everyMs: number) {
    this.everyMs = everyMs
  }

  add(member: Ticked): void {
    this.members.add(member)
    this.start()
  }

  delete(member: Ticked): void {
    this.members.delete(member)
  }

  /** Looks at a member no more but once, at a time or soon after it: of many that only wait for their end. */
  rest(member: Ticked, until: number): void {
    this.members.delete(member)
    const number = Math.ceil(until / this.everyMs)
    const others = this.resting.get(number)
    if (others === undefined) this.resting.set(number, [member])
    else others.push(member)
    this.start()
  }

  private start(): void {
    // What is under way keeps the process alive by itself.
    this.timer ??= setInterval(() => this.tick(), this.everyMs).unref()
  }

  private tick(): void {
    const at = now()
    for (const member of this.members) member.tick(at)
    for (const [number, rested] of this.resting) {
      if (number * this.everyMs > at) continue
      this.resting.delete(number)
      for (const member of rested) member.tick(at)
    }
    if (this.members.size > 0 || this.resting.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
