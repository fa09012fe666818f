import { now } from '../core/own-time.ts'
import { longTimer } from './long-timer.ts'

/**
 * The agent's own time. It runs while the agent, its model or its tools work, and stands still while the environment
 * or another seat has the turn, and while a model call queues or backs off.
 */
export class AgentClock {
  private used = 0
  private since = 0
  /** It runs, unless it is held. */
  private wanted = false
  private running = false
  private holds = 0
  private over = false
  private stopTimer: (() => void) | undefined
  private readonly budgetMs: number | undefined
  private readonly expire: () => void

  /** `expire` is called once when `budgetMs` is used up; without a budget it only counts. */
  constructor(budgetMs: number | undefined, expire: () => void) {
    this.budgetMs = budgetMs
    this.expire = expire
  }

  resume(): void {
    this.wanted = true
    if (this.holds === 0) this.run()
  }

  private run(): void {
    if (this.running || this.over) return
    this.running = true
    this.since = now()
    // One that is left from before fires too early, and is wound up again then: a clock may move with every step.
    if (this.budgetMs !== undefined) this.stopTimer ??= this.timer(this.budgetMs)
  }

  private timer(budgetMs: number): () => void {
    return longTimer(budgetMs - this.usedMs(), () => {
      this.stopTimer = undefined
      if (!this.running) return
      if (this.usedMs() >= budgetMs) this.expire()
      else this.stopTimer = this.timer(budgetMs)
    })
  }

  pause(): void {
    this.wanted = false
    this.halt()
  }

  /** Stands still, whoever has the turn, until it was let go as often as it was held. */
  hold(): void {
    this.holds++
    this.halt()
  }

  letGo(): void {
    if (--this.holds === 0 && this.wanted) this.run()
  }

  private halt(): void {
    if (!this.running) return
    this.running = false
    this.used += now() - this.since
  }

  /** Stops for good: what an agent still does after its part is nobody's time. */
  stop(): void {
    this.pause()
    this.over = true
    this.stopTimer?.()
  }

  /** Gives back time that turned out to be waiting. */
  credit(ms: number): void {
    if (!(ms > 0)) return
    const wasRunning = this.running
    this.halt()
    this.used = Math.max(0, this.used - ms)
    if (wasRunning) this.run()
  }

  usedMs(): number {
    return this.used + (this.running ? now() - this.since : 0)
  }
}
