import type { Exchange } from './exchange.ts'
import { bodyBrokeOff, Refusal } from './refusal.ts'

/** Bytes of a stream that wait for a reader in this process before its writer is asked to wait. */
const mostWaiting = 64 * 1024

/** A `fetch` that sends every request to `serve`, whatever its host, without a socket between. */
export function inProcessFetch(serve: (exchange: Exchange) => Promise<void>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    signal.throwIfAborted()
    const exchange = new FetchExchange(request)
    const abort = (): void => exchange.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    exchange.onEnd(() => signal.removeEventListener('abort', abort))
    void serve(exchange)
    return exchange.answer
  }
}

/** An exchange with a caller in this process. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly target: string
  /** Resolves with the response, once there is one. */
  readonly answer: Promise<Response>
  closed = false
  private readonly request: Request
  private readonly promised = Promise.withResolvers<Response>()
  private readonly listeners: ((taken: boolean) => void)[] = []
  private readonly encoder = new TextEncoder()
  private stream: ReadableStreamDefaultController<Uint8Array> | undefined
  private drained: { promise: Promise<void>; resolve(): void } | undefined
  private finished = false
  private broken: TypeError | undefined

  constructor(request: Request) {
    this.request = request
    this.method = request.method
    const { pathname, search } = new URL(request.url)
    this.target = `${pathname}${search}`
    this.answer = this.promised.promise
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  async body(count: (bytes: number) => void): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    try {
      for await (const piece of this.request.body ?? []) {
        count(piece.byteLength)
        pieces.push(piece)
      }
    } catch (thrown) {
      throw thrown instanceof Refusal ? thrown : bodyBrokeOff()
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  onClose(listener: (taken: boolean) => void): void {
    if (this.closed) listener(this.finished)
    else this.listeners.push(listener)
  }

  /** Called when all is over, before those who were told of it by `onClose`. */
  onEnd(listener: () => void): void {
    this.listeners.unshift(listener)
  }

  send(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    if (this.closed) return
    this.promised.resolve(new Response(body, { status, headers }))
    this.finished = true
    this.close()
  }

  begin(headers: Readonly<Record<string, string>>): void {
    if (this.closed) return
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.stream = controller
        },
        pull: () => {
          this.release()
          this.breakWhenRead()
        },
        cancel: () => this.close(),
      },
      { highWaterMark: mostWaiting, size: (piece) => piece.byteLength },
    )
    this.promised.resolve(new Response(body, { headers }))
  }

  write(text: string): Promise<void> | undefined {
    if (this.closed || this.stream === undefined || text === '') return undefined
    this.stream.enqueue(this.encoder.encode(text))
    if ((this.stream.desiredSize ?? 1) > 0) return undefined
    this.drained ??= Promise.withResolvers<void>()
    return this.drained.promise
  }

  end(text: string): void {
    if (this.closed) return
    this.write(text)
    this.stream?.close()
    this.finished = true
    this.close()
  }

  /** What was written before is still read, unless nobody reads. */
  breakOff(text?: string): void {
    if (this.closed) return
    const blocked = this.drained !== undefined
    if (text !== undefined && !blocked) this.write(text)
    this.broken = new TypeError('terminated', { cause: new Error('the reply broke off') })
    this.promised.reject(this.broken)
    if (blocked) this.stream?.error(this.broken)
    else this.breakWhenRead()
    this.close()
  }

  /** The caller gives up. */
  abort(reason: unknown): void {
    if (this.closed) return
    this.promised.reject(reason)
    this.stream?.error(reason)
    this.close()
  }

  private breakWhenRead(): void {
    if (this.broken !== undefined && this.stream?.desiredSize === mostWaiting) this.stream.error(this.broken)
  }

  private release(): void {
    this.drained?.resolve()
    this.drained = undefined
  }

  private close(): void {
    if (this.closed) return
    this.closed = true
    this.release()
    for (const listener of this.listeners) listener(this.finished)
  }
}
