import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { readMessage } from './json-rpc.ts'
import { nestsDeep } from './nesting.ts'

const localErrors = ['stream_ended', 'malformed_answer', 'result_too_large'] as const
/** Why we answered in a server's place: it gave no answer that can be read. */
export type LocalError = (typeof localErrors)[number]

/** Under this key of `error.data`, which no server can guess, stands why. */
const mark = randomUUID()
const markedData = z.object({ [mark]: z.enum(localErrors) })

/** Why we wrote an error ourselves, from its `data`; undefined for one of the server's. */
export function localErrorOf(data: unknown): LocalError | undefined {
  return markedData.safeParse(data).data?.[mark]
}

/** What a server sent that belongs to nothing; counted, never acted on. */
export interface Noise {
  /** A second answer to a request. */
  duplicates: number
  /** An answer to a request that was never made. */
  strangers: number
  /** An answer to a call that had been given up. */
  late: number
  /** JSON that is no JSON-RPC message, and answers that break its grammar. */
  malformed: number
}

/** How many answered ids are remembered, to tell a second answer from a stranger's. */
const remembered = 1024

/**
 * Stands between the client and a transport: hands on what answers a request of ours, once; counts the rest; and
 * answers for a server whose answer cannot come any more, so that no call waits for its deadline in vain.
 */
export class GuardedTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly noise: Noise = { duplicates: 0, strangers: 0, late: 0, malformed: 0 }
  protected readonly inner: Transport
  private readonly pending = new Set<RequestId>()
  private readonly settled = new Map<RequestId, 'answered' | 'given up'>()

  constructor(inner: Transport) {
    this.inner = inner
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.inner.setSupportedProtocolVersions?.(versions)
  }

  async start(): Promise<void> {
    this.inner.onmessage = (message, extra) => {
      if (this.accept(message)) this.onmessage?.(message, extra)
    }
    this.inner.onerror = (error) => this.onerror?.(error)
    this.inner.onclose = () => this.onclose?.()
    await this.inner.start()
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const read = readMessage(message)
    if (read.kind !== 'request') {
      if (read.kind === 'notification' && read.method === 'notifications/cancelled') this.giveUp(message)
      return this.inner.send(message, options)
    }
    const { id } = read
    this.pending.add(id)
    // Revision 2026-07-28 over HTTP cancels by closing the request's stream.
    options?.requestSignal?.addEventListener('abort', () => this.settle(id, 'given up'), { once: true })
    await this.inner.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.()
        this.answerFor(id, 'stream_ended', "the server's answer ended before it was whole")
      },
    })
  }

  async close(): Promise<void> {
    await this.inner.close()
  }

  /** Answers a request, or all that are open, in the server's place. */
  answerFor(id: RequestId | undefined, what: LocalError, message: string): void {
    const ids = id === undefined ? [...this.pending] : this.pending.has(id) ? [id] : []
    for (const open of ids) {
      this.settle(open, 'answered')
      const error = { code: -32000, message, data: { [mark]: what } }
      this.onmessage?.({ jsonrpc: '2.0', id: open, error })
    }
  }

  private accept(message: unknown): boolean {
    const read = readMessage(message)
    if (read.kind === 'request' || read.kind === 'notification') {
      if (!nestsDeep(message)) return true
      this.noise.malformed++
      return false
    }
    if (read.kind === 'malformed') {
      this.noise.malformed++
      if (read.id !== undefined)
        this.answerFor(read.id, 'malformed_answer', 'the server gave an answer that is no JSON-RPC')
      return false
    }
    const { id } = read
    if (id !== undefined && this.pending.has(id)) {
      if (nestsDeep(message)) {
        this.noise.malformed++
        this.answerFor(id, 'malformed_answer', 'the server gave an answer that nests too deep to be read')
        return false
      }
      this.settle(id, 'answered')
      return true
    }
    const known = id === undefined ? undefined : this.settled.get(id)
    if (known === undefined) this.noise.strangers++
    else if (known === 'answered') this.noise.duplicates++
    else this.noise.late++
    return false
  }

  private giveUp(message: JSONRPCMessage): void {
    const params = 'params' in message ? message.params : undefined
    const id = params?.['requestId']
    if (typeof id === 'string' || typeof id === 'number') this.settle(id, 'given up')
  }

  private settle(id: RequestId, how: 'answered' | 'given up'): void {
    if (!this.pending.delete(id)) return
    this.settled.set(id, how)
    if (this.settled.size > remembered) {
      const [oldest] = this.settled.keys()
      if (oldest !== undefined) this.settled.delete(oldest)
    }
  }
}

/** As the SDK tells a program from an address: by these two members. Only a program may answer a probe with silence. */
export class GuardedProgramTransport extends GuardedTransport {
  protected override readonly inner: Transport & { readonly pid: number | null; readonly stderr: string }

  constructor(inner: Transport & { readonly pid: number | null; readonly stderr: string }) {
    super(inner)
    this.inner = inner
  }

  get pid(): number | null {
    return this.inner.pid
  }

  get stderr(): string {
    return this.inner.stderr
  }
}
