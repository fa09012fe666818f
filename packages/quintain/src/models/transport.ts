import type { Client, Dispatcher } from 'undici'
import { type ModelContext, ModelFault } from '../core/model.ts'
import { Connections } from './connections.ts'
import type { ReplyReader } from './dialects/dialect.ts'
import { type Deadlines, type Exchanged, exchange } from './exchange.ts'
import type { CallSample, Limiter, Permit } from './limiter.ts'
import { providerFault } from './reply-faults.ts'
import { Ticker } from './ticker.ts'

export interface TransportOptions {
  origin: string
  /** Headers of every request, but for `accept`. */
  headers: Readonly<Record<string, string>>
  /** The endpoint, for messages. */
  where: string
  deadlines: Partial<Deadlines> | undefined
  /** Most connections that are open at once. */
  connections: number
  maxBodyBytes: number
  limiter: Limiter | undefined
  /** Sends requests instead of connections of its own. */
  dispatcher: Dispatcher | undefined
  redact(text: string): string
}

/** One request to send. */
export interface Outgoing {
  path: string
  body: Buffer
  /** The reply is wanted as an event stream. */
  stream: boolean
  /** Reads the events of the reply. */
  reader(): ReplyReader
  /** What must come to pass before more of the reply is read. */
  drained?: (() => Promise<void> | undefined) | undefined
}

/** Sends the requests of one client: connections, deadlines, and places at the provider. */
export interface Transport {
  /** Sends a request and hands its reply to `read`, whose fault counts as the request's. */
  send<T>(outgoing: Outgoing, context: ModelContext, read: (reply: Exchanged) => T): Promise<T>
  close(): Promise<void>
}

/** A connection to ask on, and how long it was waited for. */
interface Place {
  client: Client
  waitedMs: number
}

export function createTransport(options: TransportOptions): Transport {
  const { origin, where, redact, limiter, maxBodyBytes } = options
  const deadlines = deadlinesOf(options.deadlines)
  const ticker = new Ticker(tickOf(deadlines.whole, deadlines.streamed))
  const headers = {
    whole: { ...options.headers, accept: 'application/json' },
    streamed: { ...options.headers, accept: 'text/event-stream' },
  }
  let connections: Connections | undefined
  // Loading takes a moment, which passes while workers start.
  const opening = options.dispatcher === undefined ? connect() : undefined
  opening?.catch(() => {})

  /** Loaded when there is a client: the HTTP library takes 30 MB, which processes that only play scripts do without. */
  async function connect(): Promise<Connections> {
    const { Client } = await import('undici')
    connections = new Connections({
      most: options.connections,
      open: () =>
        new Client(origin, {
          pipelining: 1,
          keepAliveTimeout: 30_000,
          connect: { timeout: 15_000 },
          // Ours are finer than these.
          headersTimeout: 0,
          bodyTimeout: 0,
        }),
    })
    return connections
  }

  /** A connection that is free needs no wait, and its request leaves in this turn of the event loop. */
  function freeConnection(): Place | undefined {
    const client = connections?.take()
    return client === undefined ? undefined : { client, waitedMs: 0 }
  }

  async function connection(context: ModelContext): Promise<Place> {
    const kept = connections ?? (await opening!)
    const free = freeConnection()
    if (free !== undefined) return free
    const asked = performance.now()
    const client = await queued(context, () => kept.next(context.signal))
    return { client, waitedMs: performance.now() - asked }
  }

  async function exchangeOnce(
    outgoing: Outgoing,
    context: ModelContext,
    permit: Permit | undefined,
  ): Promise<Exchanged> {
    const { path, body, stream, reader, drained } = outgoing
    const request: Dispatcher.DispatchOptions = {
      origin,
      path,
      method: 'POST',
      headers: stream ? headers.streamed : headers.whole,
      body,
    }
    const own =
      options.dispatcher === undefined ? (freeConnection() ?? (await connection(context))) : undefined
    let spent = false
    try {
      const reply = await exchange(own?.client ?? options.dispatcher!, request, {
        deadlines: stream ? deadlines.streamed : deadlines.whole,
        ticker,
        maxBodyBytes,
        signal: context.signal,
        where,
        reader,
        ...(drained === undefined ? {} : { drained }),
        ...(permit === undefined ? {} : { onRest: (resting) => permit.rest(resting) }),
        fault: (code, message, facts) => providerFault(code, message, { ...facts, redact }),
      })
      reply.queuedMs += own?.waitedMs ?? 0
      spent = closesUnsaid(reply)
      return reply
    } finally {
      if (own !== undefined) {
        if (spent) connections?.replace(own.client)
        else connections?.release(own.client)
      }
    }
  }

  return {
    async send(outgoing, context, read) {
      const permit = limiter === undefined ? undefined : await placeAt(limiter, context)
      let sample: CallSample = {}
      try {
        const reply = await exchangeOnce(outgoing, context, permit)
        sample = { status: reply.status, latencyMs: reply.firstByteMs }
        reply.queuedMs += permit?.waitedMs ?? 0
        return read(reply)
      } catch (thrown) {
        if (thrown instanceof ModelFault) sample = sampleOf(thrown, sample)
        throw thrown
      } finally {
        permit?.release(sample)
      }
    },
    async close() {
      await (await opening)?.destroy()
    },
  }
}

/** llama.cpp closes a connection after a stream without saying so; what is sent on it in that moment is lost. */
function closesUnsaid({ stream, headers }: Exchanged): boolean {
  return stream !== undefined && headers['server'] === 'llama.cpp'
}

/** A place at the provider, where places are limited. */
function placeAt(limiter: Limiter, context: ModelContext) {
  const full = limiter.queued > 0 || limiter.inFlight >= limiter.limit
  const acquire = () => limiter.acquire(context.signal, context.attempt)
  return full ? queued(context, acquire) : acquire()
}

/** Waits for a place in a queue, of which the call is told. */
async function queued<T>(context: ModelContext, wait: () => Promise<T>): Promise<T> {
  context.onWait?.(true, 'queue')
  try {
    return await wait()
  } finally {
    context.onWait?.(false, 'queue')
  }
}

/** What a failed try tells the limiter. */
function sampleOf(thrown: ModelFault, sample: CallSample): CallSample {
  const { code } = thrown.fault
  if (thrown.status !== undefined) return { ...sample, status: thrown.status }
  if (code === 'cancelled') return sample
  return { overloaded: code.startsWith('timeout_') || code === 'connection_refused' }
}

function deadlinesOf(given: Partial<Deadlines> = {}): { whole: Deadlines; streamed: Deadlines } {
  const { firstByteMs, idleMs = 60_000, totalMs = 1_200_000 } = given
  return {
    whole: { firstByteMs: firstByteMs ?? 600_000, idleMs, totalMs },
    streamed: { firstByteMs: firstByteMs ?? 120_000, idleMs, totalMs },
  }
}

/** How often deadlines are looked at: a tenth of the shortest. */
function tickOf(...all: Deadlines[]): number {
  const shortest = Math.min(
    ...all.flatMap(({ firstByteMs, idleMs, totalMs }) => [firstByteMs, idleMs, totalMs]),
  )
  return Math.min(1_000, Math.max(5, shortest / 10))
}
