import type { ToolCall } from '../../core/index.ts'
import { clearTimeout, setTimeout } from '../../core/own-time.ts'
import { areSameArguments } from '../../core/same-message.ts'

/** How long a call waits for those that its reply named before it, in milliseconds: what is sent at once comes at once. */
const windowMs = 100

/**
 * Puts the calls of one reply into the order in which the model named them. Some agents send all of them at the same
 * time, and in which order they come is then chance. What no reply names, and what does not come with the others, goes in
 * the order in which it comes.
 */
export class CallOrder {
  private readonly lastCalls: () => readonly ToolCall[] | undefined
  /** Calls of the last reply. */
  private named: readonly ToolCall[] = []
  /** Which of them have come. */
  private came: boolean[] = []
  /** Those that wait, by their place in the reply. */
  private readonly waiting = new Map<number, () => void>()
  private timer: NodeJS.Timeout | undefined

  /** `lastCalls` gives the calls of the reply that a model gave last, the same list until the next reply. */
  constructor(lastCalls: () => readonly ToolCall[] | undefined) {
    this.lastCalls = lastCalls
  }

  /** Runs `go` when it is the turn of a call: at once, or when the calls that its reply named before it have come. */
  place(name: string, args: string, go: () => void): void {
    const calls = this.lastCalls() ?? []
    if (calls !== this.named) {
      this.release()
      this.named = calls
      this.came = calls.map(() => false)
    }
    const at = this.find(name, args)
    if (at < 0) {
      go()
      return
    }
    this.came[at] = true
    this.waiting.set(at, go)
    const missing = this.came.indexOf(false)
    this.release(missing < 0 ? calls.length : missing)
    if (this.waiting.size > 0) this.timer ??= setTimeout(() => this.giveUp(), windowMs)
  }

  /** Lets everything go that waits for calls named before it, or only what comes before a place. */
  release(before = this.named.length): void {
    for (const at of [...this.waiting.keys()].sort((a, b) => a - b)) {
      if (at >= before) return
      const go = this.waiting.get(at)
      this.waiting.delete(at)
      go?.()
    }
    clearTimeout(this.timer)
    this.timer = undefined
  }

  /** A call that was named did not come with the others: the rest of this reply goes as it comes. */
  private giveUp(): void {
    this.release()
    this.came = this.came.map(() => true)
  }

  /** The place of a call among those of the reply that have not come yet; -1 where it cannot be told which it is. */
  private find(name: string, args: string): number {
    const open = [...this.named.keys()].filter((at) => !this.came[at] && this.named[at]!.name === name)
    const same = open.find((at) => areSameArguments(this.named[at]!.arguments, args))
    // Arguments may have been filled up on the way; the name alone says enough where it is there once.
    return same ?? (open.length === 1 ? open[0]! : -1)
  }
}
