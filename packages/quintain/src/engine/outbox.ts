import { clearTimeout, setImmediate, setTimeout } from '../core/own-time.ts'

/** Messages that leave together at most. Thousands in one would block both ends, and take memory that is not given back. */
const mostTogether = 64
/** Milliseconds that patient messages wait for company. */
const patienceMs = 1

/**
 * Messages on their way to another process. What happens in one turn of the event loop leaves together, up to a number;
 * the rest follows in the next turns, so that what comes in is not kept waiting. Patient messages wait a little longer for
 * others: where thousands of answers a second are under way, each by itself would cost both processes a turn.
 */
export class Outbox<Message> {
  private waiting: Message[] = []
  /** What waits leaves with this turn of the event loop. */
  private leaving = false
  private timer: NodeJS.Timeout | undefined
  private readonly send: (batch: Message[]) => void

  constructor(send: (batch: Message[]) => void) {
    this.send = send
  }

  push(message: Message, { patient = false }: { patient?: boolean } = {}): void {
    const waiting = this.waiting.push(message)
    if (this.leaving) return
    if (!patient || waiting >= mostTogether) this.leave()
    else this.timer ??= setTimeout(() => this.flush(), patienceMs)
  }

  private leave(): void {
    this.leaving = true
    clearTimeout(this.timer)
    setImmediate(() => this.flush())
  }

  private flush(): void {
    this.timer = undefined
    this.leaving = false
    const batch = this.waiting
    this.waiting = batch.length > mostTogether ? batch.splice(mostTogether) : []
    if (this.waiting.length > 0) this.leave()
    this.send(batch)
  }
}
