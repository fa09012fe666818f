import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from './exchange.ts'
import { bodyBrokeOff } from './refusal.ts'

/** Characters of a stream that are sent at once. */
const mostWaiting = 16 * 1024

/** The chunk that ends a body. */
const lastChunk = '0\r\n\r\n'

/** How long the end of a reply that breaks off has to leave. */
const flushMs = 1_000

/** Settled: what waits for it runs after all promises that are settled already. */
const settled = Promise.resolve()

/** An exchange on a connection of `node:http`. */
export class NodeExchange implements Exchange {
  closed = false
  private readonly request: IncomingMessage
  private readonly response: ServerResponse
  private readonly expectsContinue: boolean
  private listener: ((taken: boolean) => void) | undefined
  /** Pieces of the stream are sent as chunks (RFC 9112 §7.1), which older callers cannot read. */
  private chunked = false
  /** Text of a stream that is not sent yet. */
  private waiting = ''
  private drained: { promise: Promise<void>; resolve(): void } | undefined

  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue = false) {
    this.request = request
    this.response = response
    this.expectsContinue = expectsContinue
    response.on('close', () => this.close())
    // Callers go at any moment; what becomes of their connection is told by its end.
    response.on('error', () => {})
    request.on('error', () => {})
  }

  get method(): string {
    return this.request.method ?? ''
  }

  get target(): string {
    return this.request.url ?? ''
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  body(count: (bytes: number) => void): Promise<Uint8Array> {
    const { request } = this
    if (this.expectsContinue) this.response.writeContinue()
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      const stop = (thrown: unknown): void => {
        request.removeAllListeners('data')
        request.pause()
        reject(thrown)
      }
      request.on('data', (piece: Buffer) => {
        pieces.push(piece)
        try {
          count(piece.length)
        } catch (thrown) {
          stop(thrown)
        }
      })
      request.on('end', () => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)))
      request.on('close', () => {
        if (!request.complete) reject(bodyBrokeOff())
      })
    })
  }

  onClose(listener: (taken: boolean) => void): void {
    if (this.closed) listener(this.response.writableFinished)
    else this.listener = listener
  }

  send(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    if (this.closed) return
    const bytes = Buffer.byteLength(body)
    this.response
      .writeHead(status, { ...headers, 'content-length': bytes })
      .end(body, encodingOf(body, bytes))
  }

  begin(headers: Readonly<Record<string, string>>): void {
    if (this.closed) return
    const { response } = this
    response.writeHead(200, headers)
    // Node hands each chunk to the socket in four parts, which is a quarter of what the writing of a piece costs.
    this.chunked = response.chunkedEncoding
    response.chunkedEncoding = false
  }

  /**
   * Pieces that come in one moment are sent as one, with the end if it came too: what a stream costs is the number of
   * its writes. The moment is over when every promise that is settled has run.
   */
  write(text: string): Promise<void> | undefined {
    if (this.closed || text === '') return undefined
    if (this.waiting === '') void settled.then(this.flushSoon)
    this.waiting += text
    if (this.waiting.length > mostWaiting) this.flush()
    return this.drained?.promise
  }

  end(text: string): void {
    if (this.closed) return
    const rest = this.waiting + text
    this.waiting = ''
    const bytes = Buffer.byteLength(rest)
    this.response.end(this.framed(rest, bytes) + (this.chunked ? lastChunk : ''), encodingOf(rest, bytes))
  }

  breakOff(text = ''): void {
    if (this.closed) return
    const { response } = this
    const { socket } = response
    if (socket === null || response.writableNeedDrain || !response.headersSent) {
      response.destroy()
      return
    }
    this.waiting += text
    this.flush()
    socket.setTimeout(flushMs, () => socket.destroy())
    // What was written reaches the socket with the next tick. The connection ends after it, without the chunk that
    // would say that the body is whole.
    process.nextTick(() => socket.destroySoon())
  }

  private readonly flushSoon = (): void => process.nextTick(this.flush)

  private readonly flush = (): void => {
    const text = this.waiting
    this.waiting = ''
    if (this.closed || text === '') return
    const bytes = Buffer.byteLength(text)
    const written = this.response.write(this.framed(text, bytes), encodingOf(text, bytes))
    if (written || this.drained !== undefined) return
    const drained = Promise.withResolvers<void>()
    this.drained = drained
    this.response.once('drain', () => {
      this.drained = undefined
      drained.resolve()
    })
  }

  private framed(text: string, bytes: number): string {
    return this.chunked && bytes > 0 ? `${bytes.toString(16)}\r\n${text}\r\n` : text
  }

  private close(): void {
    if (this.closed) return
    this.closed = true
    this.drained?.resolve()
    this.listener?.(this.response.writableFinished)
  }
}

/** A text of ASCII alone is written faster where Node is told that every character is a byte. */
function encodingOf(text: string, bytes: number): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8'
}
