/** Told when a taker has to wait, and when it need no longer. */
type OnWait = (waiting: boolean) => void

/** Room for so many boxes. Who comes when there is none waits its turn, first come first served. */
export class BoxSlots {
  readonly total: number
  private free: number
  private readonly queue: { wanted: number; grant: () => void }[] = []
  /** Called when a taker has to wait: who holds slots that nobody needs yet gives them back. */
  onShort: (() => void) | undefined

  constructor(total: number) {
    this.total = total
    this.free = total
  }

  /** Takes one slot if there is one that nobody waits for, and gives what returns it. */
  tryTake(): (() => void) | undefined {
    if (this.queue.length > 0 || this.free < 1) return undefined
    this.free -= 1
    return this.giver(1)
  }

  /** Takes slots, all at once so that nobody waits holding some; no more than there are at all. Gives what returns them. */
  async take(wanted: number, signal: AbortSignal, onWait?: OnWait): Promise<() => void> {
    const count = Math.min(wanted, this.total)
    signal.throwIfAborted()
    if (this.queue.length > 0 || this.free < count) await this.turn(count, signal, onWait)
    else this.free -= count
    return this.giver(count)
  }

  private giver(count: number): () => void {
    let given = true
    return () => {
      if (!given) return
      given = false
      this.free += count
      this.next()
    }
  }

  private turn(wanted: number, signal: AbortSignal, onWait: OnWait | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = { wanted, grant: () => settle(resolve) }
      const leave = () => {
        this.queue.splice(this.queue.indexOf(entry), 1)
        settle(() => reject(signal.reason))
        this.next()
      }
      const settle = (then: () => void) => {
        signal.removeEventListener('abort', leave)
        onWait?.(false)
        then()
      }
      this.queue.push(entry)
      signal.addEventListener('abort', leave, { once: true })
      onWait?.(true)
      this.onShort?.()
    })
  }

  private next(): void {
    for (let first = this.queue[0]; first !== undefined && first.wanted <= this.free; first = this.queue[0]) {
      this.queue.shift()
      this.free -= first.wanted
      first.grant()
    }
  }
}
