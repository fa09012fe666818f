import type { Dispatcher } from 'undici'
import type { ModelFault } from '../core/model.ts'
import { connectionFault } from './connection-fault.ts'
import type { ReplyReader } from './dialects/dialect.ts'
import { cancelled } from './fault.ts'
import type { ResponseHeaders } from './retry.ts'
import { createEventReader } from './sse.ts'
import type { StreamEnd } from './stream-assembly.ts'
import type { Ticked, Ticker } from './ticker.ts'

/** Deadlines of one try of a model call, in milliseconds. */
export interface Deadlines {
  /** From the request's start on its connection to the first byte of the reply's body. */
  firstByteMs: number
  /** Between two pieces of the body. */
  idleMs: number
  /** Of the whole try. */
  totalMs: number
}

/** A response that came whole. */
export interface Exchanged {
  status: number
  headers: ResponseHeaders
  /** The body, when it was no event stream. */
  text: string
  /** The end of the event stream, when it was one. */
  stream?: StreamEnd
  /** Events of the stream that held no JSON. */
  warnings: number
  /** Milliseconds that the request waited for its connection to open. */
  queuedMs: number
  /** From the request's start to its first byte, and to its end. */
  firstByteMs: number
  tookMs: number
}

export interface ExchangeOptions {
  deadlines: Deadlines
  /** Looks at the deadlines of all exchanges of a client. */
  ticker: Ticker
  /** Longest body that is read, in bytes. */
  maxBodyBytes: number
  signal: AbortSignal
  /** Where the request goes, for messages. */
  where: string
  /** Reads the events of a reply that is a stream. */
  reader(): ReplyReader
  /**
   * What must come to pass before more is read; asked after each chunk, and deadlines stand still until then. Throws when
   * nobody listens any more, which takes the request back.
   */
  drained?(): Promise<void> | undefined
  /** Told (true) when nothing was read for a second, since nobody took it, and (false) when it goes on. */
  onRest?(resting: boolean): void
  /** Provider faults of the connection. */
  fault(code: string, message: string, options?: { cause?: unknown; retryable?: boolean }): ModelFault
}

/**
 * Sends one request and reads its response under deadlines. Works on undici's dispatch interface: a call costs one
 * handler object, without streams between and without a timer of its own.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ExchangeOptions,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(options, resolve, reject)
    if (options.signal.aborted) return handler.cancel()
    try {
      dispatcher.dispatch(request, handler)
    } catch (thrown) {
      handler.onResponseError(undefined, thrown)
    }
  })
}

/** How long a reply is not read before its call counts as resting, in milliseconds. */
const restMs = 1_000

class ExchangeHandler implements Dispatcher.DispatchHandler, Ticked {
  readonly #options: ExchangeOptions
  readonly #resolve: (value: Exchanged) => void
  readonly #reject: (fault: ModelFault) => void
  readonly #askedAt = performance.now()
  #startedAt = 0
  #firstByteAt = 0
  #lastByteAt = 0
  #controller: Dispatcher.DispatchController | undefined
  #settled = false
  #status = 0
  #headers: ResponseHeaders = {}
  #chunks: Buffer[] = []
  #bytes = 0
  #events: ReturnType<typeof createEventReader> | undefined
  #reader: ReplyReader | undefined
  /** When reading was paused; 0 while it goes on. */
  #pausedAt = 0
  /** For how long it was paused, in milliseconds. */
  #pausedMs = 0
  #resting = false
  readonly #onAbort = (): void => this.cancel()

  constructor(
    options: ExchangeOptions,
    resolve: (value: Exchanged) => void,
    reject: (fault: ModelFault) => void,
  ) {
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  cancel(): void {
    this.#fail(cancelled())
  }

  #release(): void {
    this.#settled = true
    this.#options.ticker.delete(this)
    this.#options.signal.removeEventListener('abort', this.#onAbort)
  }

  /** Ends the call with a fault and takes the request back from the server. */
  #fail(fault: ModelFault): void {
    if (this.#settled) return
    this.#release()
    this.#controller?.abort(fault)
    this.#reject(fault)
  }

  #expire(code: string, message: string): void {
    this.#fail(this.#options.fault(code, message))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#settled) {
      controller.abort(cancelled())
      return
    }
    this.#startedAt = performance.now()
    this.#options.ticker.add(this)
  }

  tick(now: number): void {
    const { where, deadlines } = this.#options
    const { firstByteMs, idleMs, totalMs } = deadlines
    if (this.#pausedAt > 0) {
      if (!this.#resting && now - this.#pausedAt >= restMs) this.#rest(true)
      return
    }
    if (now - this.#startedAt - this.#pausedMs >= totalMs) {
      this.#expire('timeout_total', `${where} did not finish within ${totalMs} ms.`)
    } else if (this.#bytes === 0) {
      if (now - this.#startedAt >= firstByteMs)
        this.#expire('timeout_first_byte', `${where} sent nothing within ${firstByteMs} ms.`)
    } else if (now - this.#lastByteAt >= idleMs) {
      this.#expire('timeout_idle', `${where} stopped in the middle of its reply for ${idleMs} ms.`)
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    this.#status = status
    this.#headers = headers
    const type = headers['content-type']
    if (status === 200 && typeof type === 'string' && type.includes('text/event-stream')) {
      this.#readEvents()
    }
  }

  #readEvents(limit?: number): void {
    const reader = this.#options.reader()
    this.#reader = reader
    this.#events = createEventReader(
      ({ data, event }) => {
        reader.push(data, event)
      },
      limit === undefined ? {} : { limit },
    )
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return
    this.#lastByteAt = performance.now()
    if (this.#bytes === 0) this.#firstByteAt = this.#lastByteAt
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.maxBodyBytes) {
      const { maxBodyBytes, where } = this.#options
      // It would be as large again.
      const message = `${where} sent more than ${maxBodyBytes} bytes.`
      this.#fail(this.#options.fault('reply_too_large', message, { retryable: false }))
      return
    }
    if (this.#events === undefined) {
      this.#chunks.push(chunk)
      return
    }
    try {
      this.#events.push(chunk)
    } catch (cause) {
      this.#fail(
        this.#options.fault('reply_too_large', `${this.#options.where}: ${(cause as Error).message}.`, {
          cause,
          retryable: false,
        }),
      )
      return
    }
    this.#goOn(controller)
  }

  /** Reads on at once, or when whoever listens has taken what was told; what they have not taken stays with the server. */
  #goOn(controller: Dispatcher.DispatchController): void {
    if (this.#settled) return
    let drained: Promise<void> | undefined
    try {
      drained = this.#options.drained?.()
    } catch {
      this.cancel()
      return
    }
    if (drained === undefined) {
      if (controller.paused) controller.resume()
      return
    }
    if (!controller.paused) controller.pause()
    this.#pausedAt = performance.now()
    const then = (): void => {
      const now = performance.now()
      this.#pausedMs += now - this.#pausedAt
      this.#lastByteAt = now
      this.#pausedAt = 0
      if (this.#resting) this.#rest(false)
      this.#goOn(controller)
    }
    drained.then(then, then)
  }

  #rest(resting: boolean): void {
    this.#resting = resting
    this.#options.onRest?.(resting)
  }

  onResponseEnd(): void {
    if (this.#settled) return
    this.#release()
    this.#events?.end()
    const { length } = this.#chunks
    const text =
      length === 0 ? '' : length === 1 ? this.#chunks[0]!.toString() : Buffer.concat(this.#chunks).toString()
    // Some servers stream without saying so in the content type.
    if (this.#reader === undefined && this.#status === 200 && /^\s*(?:data|event)?:/.test(text)) {
      this.#readEvents(text.length)
      // The text is bounded already, so its lines need no bound of their own.
      this.#events?.push(text)
      this.#events?.end()
    }
    const stream = this.#reader?.end()
    const now = performance.now()
    const exchanged: Exchanged = {
      status: this.#status,
      headers: this.#headers,
      text,
      warnings: this.#reader?.warnings ?? 0,
      queuedMs: this.#startedAt - this.#askedAt,
      firstByteMs: (this.#firstByteAt || now) - this.#startedAt,
      tookMs: now - this.#startedAt,
    }
    if (stream !== undefined) exchanged.stream = stream
    this.#resolve(exchanged)
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, thrown: unknown): void {
    if (this.#settled) return
    const { where } = this.#options
    // A provider that closes after it has told its status, or the end of its stream, has told enough.
    const stream = this.#reader?.end()
    if (this.#status >= 400 || stream?.state === 'complete' || stream?.state === 'error') {
      this.onResponseEnd()
      return
    }
    this.#fail(connectionFault(thrown, where, this.#options.fault, this.#reader !== undefined))
  }
}
