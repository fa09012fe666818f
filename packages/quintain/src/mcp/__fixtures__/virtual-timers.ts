import type { Timers } from '../call-deadline.ts'

/** Time that passes when it is told to. */
export class VirtualTimers implements Timers {
  private at = 0
  private timers: { at: number; expire: () => void }[] = []

  now(): number {
    return this.at
  }

  set(expire: () => void, ms: number): unknown {
    const timer = { at: this.at + ms, expire }
    this.timers.push(timer)
    return timer
  }

  clear(timer: unknown): void {
    this.timers = this.timers.filter((other) => other !== timer)
  }

  /** Lets time pass, timer by timer; between two of them everything that waits for nothing else is done. */
  async advanceTo(end: number): Promise<void> {
    for (;;) {
      await new Promise((done) => setImmediate(done))
      const next = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.clear(next)
      this.at = Math.max(this.at, next.at)
      next.expire()
    }
    this.at = Math.max(this.at, end)
    await new Promise((done) => setImmediate(done))
  }
}
