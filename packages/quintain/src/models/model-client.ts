import { getMaxListeners, setMaxListeners } from 'node:events'
import type { Client, Dispatcher } from 'undici'
import {
  type Model,
  type ModelContext,
  ModelFault,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts'
import type { DialectName } from '../core/wire.ts'
import { readBaseUrl } from './base-url.ts'
import { type RawCompletion, readResponse } from './completion.ts'
import { Connections } from './connections.ts'
import { countTokens } from './count-tokens.ts'
import { DeltaValve } from './delta-valve.ts'
import { dialects } from './dialects/index.ts'
import { type Deadlines, type Exchanged, exchange } from './exchange.ts'
import { cancelled } from './fault.ts'
import type { CallSample, Limiter, Permit } from './limiter.ts'
import { costOf, type PriceTable, priceOf } from './prices.ts'
import { createDeltaRedactor, createRedactor, createReplyRedactor } from './redact.ts'
import { createReplyFaults, providerFault, type ReadReply } from './reply-faults.ts'
import type { RequestBodyOptions } from './request-body.ts'
import { type RetryOptions, withRetry } from './retry.ts'
import { gaveUp } from './stream-assembly.ts'
import type { ThinkTags } from './thinking.ts'
import { Ticker } from './ticker.ts'
import { type ServerKind, streamsTokenIds } from './token-asks.ts'

export interface ModelClientOptions {
  /** The protocol of the endpoint. */
  dialect: DialectName
  /** The model's name as the endpoint knows it. */
  model: string
  /** Everything before `/chat/completions`, `/responses` or `/messages`; a local server (`http://127.0.0.1:8000/v1`) when absent. */
  baseUrl?: string
  /** Sent as the dialect sends it. Never printed, logged or put into an error. */
  apiKey?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** Word for the endpoint in ids and reports; `openai-compatible`, `responses` or `anthropic` when absent. */
  provider?: string
  /** Ask for event streams where nobody listens, too; false when absent. Streams notice a dead connection sooner. */
  stream?: boolean
  /** Most connections that are open at once; 1024 when absent. */
  connections?: number
  /** Deadlines of one try. First byte: 600 s, or 120 s of a stream; idle 60 s; total 1,200 s. */
  deadlines?: Partial<Deadlines>
  retry?: RetryOptions
  /** Shared by the models of one provider. Its queue counts as waiting. */
  limiter?: Limiter
  /** Prices that go before the built-in ones. */
  prices?: PriceTable
  /** Where reasoning in `<think>` tags is looked for; `leading` when absent, since graders must not read drafts. */
  thinkTags?: ThinkTags
  /** What stands behind a chat endpoint, where it is a server whose extras are known: it is asked for what was sampled. */
  server?: ServerKind
  /**
   * Ask for the ids of prompt and output and their log-probabilities. `auto`, and absent: of a `server` that has them.
   * `true` without a `server` asks in the manner of vLLM. SGLang gives no ids in streams, so it is then asked for whole
   * replies, and a program that reads a stream gets all of it at the end.
   */
  tokenIds?: boolean | 'auto'
  maxTokensField?: RequestBodyOptions['maxTokensField']
  /** Send reasoning of earlier turns back to where it came from; true when absent. */
  sendReasoning?: boolean
  /** Longest reply that is read, in bytes; 256 MiB when absent. */
  maxBodyBytes?: number
  /** Sends requests instead of connections of its own; the caller closes it. For tests. */
  dispatcher?: Dispatcher
}

/** The word for an endpoint, where nobody has given one. */
export const usualProvider: Readonly<Record<DialectName, string>> = {
  chat: 'openai-compatible',
  responses: 'responses',
  messages: 'anthropic',
}

/**
 * A model behind an endpoint that speaks one of the dialects. Failed calls are tried again here and nowhere else; each
 * failed try is in the ledger of the reply or of the fault. A call that streams (`context.onDelta`) is tried again until a
 * piece of its reply was told, and not after.
 *
 * Throws `options_invalid` for a base URL that is none.
 *
 * @example
 * const model = createModel({ dialect: 'messages', model: 'claude-sonnet-4', baseUrl: 'https://api.anthropic.com/v1', apiKey })
 * const reply = await model.generate({ messages }, { signal })
 */
export function createModel(options: ModelClientOptions): Model {
  const dialect = dialects[options.dialect]
  const endpoint = readBaseUrl(options.baseUrl ?? 'http://127.0.0.1:8000/v1', dialect.path)
  const { origin, base, search } = endpoint
  const provider = options.provider ?? usualProvider[dialect.name]
  const where = `${provider} (${origin})`
  const secrets = [options.apiKey, ...endpoint.secrets, ...secretHeaders(options.headers)]
  const redact = createRedactor(secrets)
  const redactReply = createReplyRedactor(secrets)
  const redactDeltas = createDeltaRedactor(secrets)
  const deadlines = deadlinesOf(options)
  const ticker = new Ticker(tickOf(deadlines.whole, deadlines.streamed))
  let connections: Connections | undefined
  // Loading takes a moment, which passes while workers start.
  const opening = options.dispatcher === undefined ? connect() : undefined
  opening?.catch(() => {})
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...dialect.headers(options.apiKey),
    ...endpoint.headers,
    ...lowerCased(options.headers ?? {}),
  }
  const server = dialect.name === 'chat' ? options.server : undefined
  const tokenIds =
    options.tokenIds === true ||
    (options.tokenIds !== false && server !== undefined && dialect.name === 'chat')
  const bodyOptions: Omit<RequestBodyOptions, 'stream'> = {
    model: options.model,
    tokenIds,
    ...(server === undefined ? {} : { server }),
    ...(options.maxTokensField === undefined ? {} : { maxTokensField: options.maxTokensField }),
    ...(options.sendReasoning === undefined ? {} : { sendReasoning: options.sendReasoning }),
  }
  const thinkTags = options.thinkTags === undefined ? {} : { thinkTags: options.thinkTags }
  const price = priceOf(options.model, options.prices)
  const maxBodyBytes = options.maxBodyBytes ?? 256 * 1024 * 1024
  const read = createReplyFaults({ dialect, where, asked: tokenIds ? { server } : undefined, redact })

  /** Loaded when there is a client: the HTTP library takes 30 MB, which processes that only play scripts do without. */
  async function connect(): Promise<Connections> {
    const { Client } = await import('undici')
    connections = new Connections({
      most: options.connections ?? 1024,
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

  /** Sends one request, on a connection of its own. */
  async function send(call: Call, context: ModelContext): Promise<Exchanged> {
    const { signal } = context
    const request: Dispatcher.DispatchOptions = {
      origin,
      path: call.path,
      method: 'POST',
      headers: { ...headers, accept: call.stream ? 'text/event-stream' : 'application/json' },
      body: call.body,
    }
    let connection: Client | undefined
    let queuedMs = 0
    if (options.dispatcher === undefined) {
      const kept = connections ?? (await opening!)
      connection = kept.take()
      if (connection === undefined) {
        const asked = performance.now()
        connection = await queued(context, () => kept.next(signal))
        queuedMs = performance.now() - asked
      }
    }
    try {
      const reply = await exchange(connection ?? options.dispatcher!, request, {
        deadlines: call.stream ? deadlines.streamed : deadlines.whole,
        ticker,
        maxBodyBytes,
        signal,
        where,
        reader: () =>
          dialect.replyReader({
            redact,
            ...thinkTags,
            ...(call.valve === undefined
              ? {}
              : { onDelta: call.valve.tell, as: call.same ? 'events' : 'pieces', taken: call.taken }),
          }),
        ...(call.valve === undefined ? {} : { drained: call.valve.drained }),
        fault: (code, message, facts) => providerFault(code, message, { ...facts, redact }),
      })
      reply.queuedMs += queuedMs
      return reply
    } finally {
      if (connection !== undefined) connections?.release(connection)
    }
  }

  async function tryOnce(call: Call, context: ModelContext): Promise<ReadReply & { reply: Exchanged }> {
    const permit = await place(context)
    let sample: CallSample = {}
    try {
      const reply = await send(call, context)
      sample = { status: reply.status, latencyMs: reply.firstByteMs }
      const { completion, body } = read(reply)
      if (gaveUp(completion.finish))
        throw providerFault('aborted', `${where} gave up on the reply (finish "${completion.finish}").`, {
          redact,
        })
      reply.queuedMs += permit?.waitedMs ?? 0
      return { reply, completion, ...(body === undefined ? {} : { body }) }
    } catch (thrown) {
      if (thrown instanceof ModelFault) sample = sampleOf(thrown, sample)
      throw thrown
    } finally {
      permit?.release(sample)
    }
  }

  /** A place at the provider, where places are limited. */
  async function place(context: ModelContext): Promise<Permit | undefined> {
    const { limiter } = options
    if (limiter === undefined) return undefined
    const full = limiter.queued > 0 || limiter.inFlight >= limiter.limit
    const acquire = () => limiter.acquire(context.signal)
    return full ? queued(context, acquire) : acquire()
  }

  /** Takes secrets out of everything that is kept of a completion. Token ids and log-probabilities hold no text. */
  function redactCompletion(completion: RawCompletion): void {
    const { message, finish, id, model, weightVersion, weightSpans } = completion
    Object.assign(completion, redactReply({ message, finish, id, model, weightVersion, weightSpans }))
  }

  async function answer(call: Call, context: ModelContext): Promise<ModelResponse> {
    const began = performance.now()
    const { value, retries } = await withRetry(() => tryOnce(call, context), {
      ...options.retry,
      signal: context.signal,
      // What was told cannot be taken back.
      mayRetry: () => call.valve?.told !== true,
      onWait: (waiting) => context.onWait?.(waiting, 'backoff'),
    })
    const { reply, completion, body } = value
    const version = reply.headers['x-weight-version'] ?? reply.headers['x-policy-version']
    if (completion.weightVersion === undefined && typeof version === 'string')
      completion.weightVersion = version

    // Before it is read, so that ids stay unique, and after, since reading puts pieces of text together.
    if (call.same && body !== undefined) redactReply(body)
    redactCompletion(completion)
    const response = readResponse(completion, { ...thinkTags, taken: call.taken })
    redactReply(response.message)
    if (reply.warnings > 0) response.flags = [...(response.flags ?? []), 'stream_comment_as_data']
    if (response.costUsd === undefined) response.costUsd = costOf(response.usage, price)
    if (call.same && body !== undefined) response.wire = { dialect: dialect.name, body }
    response.timing = {
      firstByteMs: reply.firstByteMs,
      totalMs: performance.now() - began,
      // The time of a failed try, its own queueing included, is in its ledger entry.
      waitMs: retries.reduce((sum, entry) => sum + entry.tookMs + entry.waitedMs, reply.queuedMs),
    }
    if (retries.length > 0) response.retries = retries
    return response
  }

  function callOf(request: ModelRequest, context: ModelContext): Call {
    const same = request.wire?.dialect === dialect.name
    const streams = !tokenIds || streamsTokenIds(server)
    const listener = streams ? context.onDelta : undefined
    // A program of this dialect that reads no stream is given the reply as it came, whole.
    const stream = listener !== undefined || (streams && options.stream === true && !same)
    return {
      path: `${base}${dialect.path}${search}`,
      // While thousands of calls wait for their answers, each should hold its body and nothing else of the request.
      body: Buffer.from(dialect.requestBody(request, { ...bodyOptions, stream })),
      stream,
      same,
      taken: takenIds(request),
      valve: listener === undefined ? undefined : new DeltaValve(listener, redactDeltas()),
    }
  }

  return {
    id: `${provider}:${options.model}`,
    endpoint: `${origin}${base}${endpoint.secrets.length === 0 ? search : ''}`,
    priced: price !== null,
    async generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
      if (context.signal.aborted) throw cancelled()
      if (signalsWarn) setMaxListeners(0, context.signal)
      const call = callOf(request, context)
      try {
        const response = await answer(call, context)
        await call.valve?.settle(context.signal)
        return response
      } catch (thrown) {
        // What the listener threw ended the call, and goes before the fault that this made.
        throw call.valve?.failure === undefined ? thrown : call.valve.failure.thrown
      }
    },
    async countTokens(request: ModelRequest, context: ModelContext): Promise<number | undefined> {
      if (context.signal.aborted) throw cancelled()
      return countTokens(request, {
        dialect,
        bodyOptions: { ...bodyOptions, stream: false },
        base,
        send: (path, body) =>
          send({ path, body, stream: false, same: false, taken: new Set(), valve: undefined }, context),
      })
    },
    async close() {
      await (await opening)?.destroy()
    },
  }
}

/** One call as its tries send it. */
interface Call {
  path: string
  body: Buffer
  stream: boolean
  /** The program that asks speaks the dialect of this endpoint. */
  same: boolean
  /** Ids of tool calls that the conversation holds already; those of the reply are added. */
  taken: Set<string>
  /** Who listens to the reply as it comes. */
  valve: DeltaValve | undefined
}

function deadlinesOf(options: ModelClientOptions): { whole: Deadlines; streamed: Deadlines } {
  const { firstByteMs, idleMs = 60_000, totalMs = 1_200_000 } = options.deadlines ?? {}
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

/** What a failed try tells the limiter. */
function sampleOf(thrown: ModelFault, sample: CallSample): CallSample {
  const { code } = thrown.fault
  if (thrown.status !== undefined) return { ...sample, status: thrown.status }
  if (code === 'cancelled') return sample
  return { overloaded: code.startsWith('timeout_') || code === 'connection_refused' }
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

/** Whether Node takes many listeners on one signal for a leak, as it did before version 22. */
const signalsWarn = getMaxListeners(new AbortController().signal) !== 0

/** Ids of tool calls that the conversation holds already. */
function takenIds(request: ModelRequest): Set<string> {
  const taken = new Set<string>()
  for (const message of request.messages) {
    if (message.role === 'assistant' && message.toolCalls !== undefined)
      for (const call of message.toolCalls) taken.add(call.id)
  }
  return taken
}

/** Values of headers that carry a credential, by their name. */
function secretHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|key|token|secret|cookie|password/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')])
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
