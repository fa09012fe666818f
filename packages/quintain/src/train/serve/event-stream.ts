import type { ServerResponse } from 'node:http'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const

/**
 * Sends events as fast as their reader takes them, and no faster: what there is to say is asked for when it can be sent, so
 * that it is kept as tokens and not as text. A reader that takes nothing for `stallMs` is hung up on.
 */
export class EventStream {
  private readonly response: ServerResponse
  private readonly next: (isBehind: boolean) => string
  private readonly stallMs: number
  private drained: PromiseWithResolvers<void> | undefined
  private woken = false

  /** `next`: the events that there are to send now, to a reader who had to be waited for or not; empty where there are none. */
  constructor(
    response: ServerResponse,
    options: {
      next: (isBehind: boolean) => string
      stallMs: number
      headers: Readonly<Record<string, string>>
    },
  ) {
    this.response = response
    this.next = options.next
    this.stallMs = options.stallMs
    response.writeHead(200, { ...headers, ...options.headers })
  }

  /** There is more to say. What comes in one moment is sent in one piece. */
  wake(): void {
    if (this.woken) return
    this.woken = true
    setImmediate(() => {
      this.woken = false
      this.send()
    })
  }

  /** Sends what is left, and then `last`. Resolves when all is handed over, or the reader has gone. */
  async end(last: string): Promise<void> {
    await this.caughtUp()
    this.send()
    await this.caughtUp()
    if (this.response.destroyed) return
    this.hangUpLater()
    this.response.end(last)
  }

  /** Says what went wrong and hangs up, so that nobody can take the stream for whole. */
  breakOff(error: Record<string, unknown>): void {
    const { response } = this
    if (response.destroyed) return
    this.hangUpLater()
    response.write(`event: error\ndata: ${JSON.stringify(error)}\n\n`, () => response.destroy())
  }

  private async caughtUp(): Promise<void> {
    while (this.drained !== undefined) await this.drained.promise
  }

  private send(isBehind = false): void {
    const { response } = this
    if (this.drained !== undefined || response.destroyed || response.writableEnded) return
    const text = this.next(isBehind)
    if (text === '' || response.write(text)) return
    const drained = Promise.withResolvers<void>()
    this.drained = drained
    const stopWaiting = this.hangUpLater()
    const go = () => {
      stopWaiting()
      response.off('drain', go).off('close', go)
      this.drained = undefined
      drained.resolve()
      this.send(true)
    }
    response.once('drain', go).once('close', go)
  }

  /** A reader that takes nothing is not waited for; gives what takes it back. */
  private hangUpLater(): () => void {
    const { response } = this
    const timer = setTimeout(() => response.destroy(), this.stallMs)
    const stop = () => clearTimeout(timer)
    response.once('close', stop)
    return () => {
      stop()
      response.off('close', stop)
    }
  }
}
