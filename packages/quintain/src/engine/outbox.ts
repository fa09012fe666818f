import { setImmediate } from '../core/own-time.ts'

/** Messages that leave together at most. Thousands in one would block both ends, and take memory that is not given back. */
const mostTogether = 64

/**
 * Messages on their way to another process. What happens in one turn of the event loop leaves together, up to a number;
 * the rest follows in the next turns, so that what comes in is not kept waiting.
 */
export class Outbox<Message> {
  private waiting: Message[] = []
  private readonly send: (batch: Message[]) => void

  constructor(send: (batch: Message[]) => void) {
    this.send = send
  }

  push(message: Message): void {
    if (this.waiting.push(message) === 1) setImmediate(() => this.flush())
  }

  private flush(): void {
    const batch = this.waiting
    this.waiting = batch.length > mostTogether ? batch.splice(mostTogether) : []
    if (this.waiting.length > 0) setImmediate(() => this.flush())
    this.send(batch)
  }
}
