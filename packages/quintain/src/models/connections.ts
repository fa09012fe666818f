import type { Client } from 'undici'
import { cancelled } from './fault.ts'

/** A caller that waits for a connection. */
interface Waiter {
  take: ((client: Client) => void) | undefined
}

/**
 * Kept connections to one origin, one request at a time on each. The last one used is taken first, so that the others
 * may rest; a place among thousands costs no search.
 */
export class Connections {
  private readonly open: () => Client
  private readonly most: number
  private readonly all: Client[] = []
  private readonly idle: Client[] = []
  /** A queue with a moving head: taking the first of thousands must not move the others. */
  private waiting: Waiter[] = []
  private head = 0

  constructor(options: { most: number; open: () => Client }) {
    this.most = options.most
    this.open = options.open
  }

  /** A connection that is free, or a new one; undefined when as many are busy as there may be. */
  take(): Client | undefined {
    const client = this.idle.pop()
    if (client !== undefined || this.all.length >= this.most) return client
    const opened = this.open()
    this.all.push(opened)
    return opened
  }

  /** The next connection that others give free, first come first served. Rejects with a `ModelFault` when cancelled. */
  next(signal: AbortSignal): Promise<Client> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { take: undefined }
      const stop = (): void => {
        waiter.take = undefined
        reject(cancelled())
      }
      waiter.take = (client) => {
        signal.removeEventListener('abort', stop)
        resolve(client)
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      this.waiting.push(waiter)
    })
  }

  release(client: Client): void {
    while (this.head < this.waiting.length) {
      const { take } = this.waiting[this.head++]!
      if (this.head > 1024 && this.head * 2 > this.waiting.length) {
        this.waiting = this.waiting.slice(this.head)
        this.head = 0
      }
      if (take === undefined) continue
      take(client)
      return
    }
    this.idle.push(client)
  }

  /** Closes a connection that its server is about to close, and gives a new one free in its place. */
  replace(client: Client): void {
    void client.destroy()
    const opened = this.open()
    this.all[this.all.indexOf(client)] = opened
    this.release(opened)
  }

  /** Closes every connection; requests under way fail. */
  async destroy(): Promise<void> {
    await Promise.all(this.all.map((client) => client.destroy()))
  }
}
