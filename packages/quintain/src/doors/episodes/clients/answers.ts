import { ClientRefused } from '../episode-client.ts'

/** Answers of a connection on which one request is made at a time. */
export class Answers {
  private waiting: PromiseWithResolvers<string> | undefined
  private over = false

  /** The next answer. Rejects when the connection ends before it comes. */
  next(): Promise<string> {
    if (this.over) return Promise.reject(closed())
    this.waiting = Promise.withResolvers()
    return this.waiting.promise
  }

  came(answer: string): void {
    this.waiting?.resolve(answer)
    this.waiting = undefined
  }

  ended(): void {
    this.over = true
    this.waiting?.reject(closed())
  }
}

function closed(): ClientRefused {
  return new ClientRefused('the connection was closed')
}
