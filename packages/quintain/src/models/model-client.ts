import { getMaxListeners, setMaxListeners } from 'node:events'
import type { Dispatcher } from 'undici'
import type { Model, ModelContext, ModelRequest, ModelResponse } from '../core/model.ts'
import type { DialectName } from '../core/wire.ts'
import { readBaseUrl } from './base-url.ts'
import { type RawCompletion, readResponse } from './completion.ts'
import { countTokens } from './count-tokens.ts'
import { DeltaValve } from './delta-valve.ts'
import { dialects, type ReaderOptions } from './dialects/index.ts'
import type { Deadlines, Exchanged } from './exchange.ts'
import { cancelled } from './fault.ts'
import type { Limiter } from './limiter.ts'
import { llamaPromptIds } from './llama-prompt-ids.ts'
import { costOf, type PriceTable, priceOf } from './prices.ts'
import { createDeltaRedactor, createRedactor, createReplyRedactor } from './redact.ts'
import { type BodyWriter, createReplyFaults, providerFault, type ReadReply } from './reply-faults.ts'
import type { RequestBodyOptions } from './request-body.ts'
import { type RetryOptions, withRetry } from './retry.ts'
import { gaveUp } from './stream-assembly.ts'
import type { ThinkTags } from './thinking.ts'
import { type ServerKind, streamsTokenIds } from './token-asks.ts'
import { createTransport, type Outgoing } from './transport.ts'
import { inputTokens, readUsage } from './usage.ts'

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
   * `true` without a `server` asks in the manner of vLLM. Where a server gives no ids in streams (SGLang; llama.cpp beside
   * tools) it is then asked for whole replies, and a program that reads a stream gets all of it at the end.
   */
  tokenIds?: boolean | 'auto'
  maxTokensField?: RequestBodyOptions['maxTokensField']
  /** Send reasoning of earlier turns back to where it came from; true when absent. */
  sendReasoning?: boolean
  /** Longest reply that is read, in bytes; 64 MiB when absent. */
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
  const transport = createTransport({
    origin,
    headers,
    where,
    deadlines: options.deadlines,
    connections: options.connections ?? 1024,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
    limiter: options.limiter,
    dispatcher: options.dispatcher,
    redact,
  })
  const read = createReplyFaults({ dialect, where, asked: tokenIds ? { server } : undefined, redact })

  function tryOnce(call: Call, context: ModelContext): Promise<ReadReply & { reply: Exchanged }> {
    return transport.send(call, context, (reply) => {
      const found = read(reply, { writer: call.writer })
      const { finish } = found.completion
      if (gaveUp(finish))
        throw providerFault('aborted', `${where} gave up on the reply (finish "${finish}").`, { redact })
      return { ...found, reply }
    })
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

    if (tokenIds && server === 'llama.cpp') await addPromptIds(completion, call, context)

    // Before it is read, so that ids stay unique, and after, since reading puts pieces of text together.
    let asItCame = true
    if (call.same && body !== undefined)
      redactReply(body, () => {
        asItCame = false
      })
    redactCompletion(completion)
    const response = readResponse(completion, { ...thinkTags, taken: call.taken })
    redactReply(response.message)
    if (reply.warnings > 0) response.flags = [...(response.flags ?? []), 'stream_comment_as_data']
    if (response.costUsd === undefined) response.costUsd = costOf(response.usage, price)
    if (call.same && body !== undefined)
      response.wire = { dialect: dialect.name, body, ...(asItCame ? { text: reply.text } : {}) }
    response.timing = {
      firstByteMs: reply.firstByteMs,
      totalMs: performance.now() - began,
      // The time of a failed try, its own queueing included, is in its ledger entry.
      waitMs: retries.reduce((sum, entry) => sum + entry.tookMs + entry.waitedMs, reply.queuedMs),
    }
    if (retries.length > 0) response.retries = retries
    return response
  }

  /** Asks the server something else than for a reply. */
  function sendAside(path: string, body: Buffer, context: ModelContext): Promise<Exchanged> {
    const reader = () => dialect.replyReader({ redact })
    return transport.send({ path, body, stream: false, reader }, context, (reply) => reply)
  }

  async function addPromptIds(completion: RawCompletion, { body }: Call, context: ModelContext) {
    const usage = readUsage(completion.usage)
    const ids = await llamaPromptIds(body, {
      base,
      counted: usage && inputTokens(usage),
      send: (path, asked) => sendAside(path, asked, context),
    })
    if (ids !== undefined) completion.promptIds = ids
  }

  function callOf(request: ModelRequest, context: ModelContext): Call {
    const same = request.wire?.dialect === dialect.name
    const writer = same ? 'program' : request.wire === undefined ? undefined : 'translated'
    const streams = !tokenIds || streamsTokenIds(server, request)
    const listener = streams ? context.onDelta : undefined
    // A program of this dialect that reads no stream is given the reply as it came, whole.
    const stream = listener !== undefined || (streams && options.stream === true && !same)
    const valve = listener === undefined ? undefined : new DeltaValve(listener, redactDeltas())
    const taken = takenIds(request)
    const told: ReaderOptions =
      valve === undefined ? {} : { onDelta: valve.tell, as: same ? 'events' : 'pieces', taken }
    return {
      path: `${base}${dialect.path}${search}`,
      // While thousands of calls wait for their answers, each should hold its body and nothing else of the request.
      body: Buffer.from(dialect.requestBody(request, { ...bodyOptions, stream })),
      stream,
      reader: () => dialect.replyReader({ redact, ...thinkTags, ...told }),
      drained: valve?.drained,
      same,
      writer,
      taken,
      valve,
    }
  }

  return {
    id: `${provider}:${options.model}`,
    endpoint: `${origin}${base}${endpoint.secrets.length === 0 ? search : ''}`,
    ...(server === undefined ? {} : { server }),
    priced: price !== null,
    costOf: (usage) => costOf(usage, price),
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
        send: (path, body) => sendAside(path, body, context),
      })
    },
    close: () => transport.close(),
  }
}

/** One call, as each of its tries sends it. */
interface Call extends Outgoing {
  /** The program that asks speaks the dialect of this endpoint. */
  same: boolean
  writer: BodyWriter
  /** Ids of tool calls that the conversation holds already; those of the reply are added. */
  taken: Set<string>
  /** Who listens to the reply as it comes. */
  valve: DeltaValve | undefined
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
