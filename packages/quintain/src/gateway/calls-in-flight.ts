/**
 * What the calls of a seat that are under way may still take of its limits. A call that would pass a limit only if all
 * of them are answered waits until one has settled, and is then looked at again.
 */
export class CallsInFlight {
  /** How many there are. */
  count = 0
  /** Output tokens that they may still take, of those that say how many. */
  tokens = 0
  private waiting: (() => void)[] = []

  begin(tokens: number): void {
    this.count++
    this.tokens += tokens
  }

  end(tokens: number): void {
    this.count--
    this.tokens -= tokens
    if (this.waiting.length === 0) return
    const woken = this.waiting
    this.waiting = []
    for (const wake of woken) wake()
  }

  /** Resolves when a call has settled, or the signal is aborted. */
  async change(signal: AbortSignal): Promise<void> {
    let wake = (): void => {}
    const woken = new Promise<void>((resolve) => {
      wake = resolve
    })
    this.waiting.push(wake)
    signal.addEventListener('abort', wake, { once: true })
    await woken
    signal.removeEventListener('abort', wake)
  }
}
