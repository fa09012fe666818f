import { getMaxListeners, setMaxListeners } from 'node:events'
import type { Client, Dispatcher } from 'undici'
import { QuintainError } from '../core/errors.ts'
import {
  type Model,
  type ModelContext,
  ModelFault,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts'
import { type RawCompletion, type RawMessage, readCompletion, readResponse } from './completion.ts'
import { Connections } from './connections.ts'
import { type Deadlines, type Exchanged, exchange } from './exchange.ts'
import { cancelled } from './fault.ts'
import type { CallSample, Limiter, Permit } from './limiter.ts'
import { costOf, type PriceTable, priceOf } from './prices.ts'
import { classifyFailure, excerpt, type FailureClass, readProviderError } from './provider-error.ts'
import { createRedactor, createReplyRedactor } from './redact.ts'
import { buildRequestBody, type RequestBodyOptions } from './request-body.ts'
import { type RetryOptions, statedWaitMs, withRetry } from './retry.ts'
import type { ThinkTags } from './thinking.ts'
import { Ticker } from './ticker.ts'

export interface ChatModelOptions {
  /** The model's name as the endpoint knows it. */
  model: string
  /** Everything before `/chat/completions`; a local server (`http://127.0.0.1:8000/v1`) when absent. */
  baseUrl?: string
  /** Sent as a bearer token. Never printed, logged or put into an error. */
  apiKey?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** Word for the endpoint in ids and reports; `openai-compatible` when absent. */
  provider?: string
  /** Ask for event streams; false when absent. Streams notice a dead connection sooner. */
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
  /** Ask a server in the manner of vLLM for the ids of prompt and output. */
  tokenIds?: boolean
  maxTokensField?: RequestBodyOptions['maxTokensField']
  /** Send reasoning of earlier turns back to where it came from; true when absent. */
  sendReasoning?: boolean
  /** Longest reply that is read, in bytes; 256 MiB when absent. */
  maxBodyBytes?: number
  /** Sends requests instead of connections of its own; the caller closes it. For tests. */
  dispatcher?: Dispatcher
}

/**
 * A model behind any endpoint that speaks OpenAI's chat completions (OpenAI, vLLM, SGLang, llama.cpp, gateways).
 * Failed calls are tried again here and nowhere else; each failed try is in the ledger of the reply or of the fault.
 *
 * Throws `options_invalid` for a base URL that is none.
 *
 * @example
 * const model = createChatModel({ model: 'qwen3-8b', baseUrl: 'http://127.0.0.1:8000/v1' })
 * const reply = await model.generate({ messages }, { signal })
 */
export function createChatModel(options: ChatModelOptions): Model {
  const { origin, path, credentials } = readBaseUrl(options.baseUrl ?? 'http://127.0.0.1:8000/v1')
  const provider = options.provider ?? 'openai-compatible'
  const id = `${provider}:${options.model}`
  const stream = options.stream === true
  const where = `${provider} (${origin})`
  const secrets = [options.apiKey, ...credentials.secrets, ...secretHeaders(options.headers)]
  const redact = createRedactor(secrets)
  const redactReply = createReplyRedactor(secrets)
  const deadlines: Deadlines = {
    firstByteMs: options.deadlines?.firstByteMs ?? (stream ? 120_000 : 600_000),
    idleMs: options.deadlines?.idleMs ?? 60_000,
    totalMs: options.deadlines?.totalMs ?? 1_200_000,
  }
  const shortest = Math.min(deadlines.firstByteMs, deadlines.idleMs, deadlines.totalMs)
  const ticker = new Ticker(Math.min(1_000, Math.max(5, shortest / 10)))
  let connections: Connections | undefined
  // Loading takes a moment, which passes while workers start.
  const opening = options.dispatcher === undefined ? connect() : undefined
  opening?.catch(() => {})
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...credentials.headers,
    ...lowerCased(options.headers ?? {}),
  }
  const bodyOptions: RequestBodyOptions = {
    model: options.model,
    stream,
    ...(options.tokenIds === undefined ? {} : { tokenIds: options.tokenIds }),
    ...(options.maxTokensField === undefined ? {} : { maxTokensField: options.maxTokensField }),
    ...(options.sendReasoning === undefined ? {} : { sendReasoning: options.sendReasoning }),
  }
  const price = priceOf(options.model, options.prices)
  const maxBodyBytes = options.maxBodyBytes ?? 256 * 1024 * 1024

  function fault(
    code: string,
    message: string,
    more: {
      retryable?: boolean
      cause?: unknown
      status?: number | undefined
      retryAfterMs?: number | undefined
      outcome?: FailureClass['outcome']
    } = {},
  ): ModelFault {
    return new ModelFault(
      {
        owner: 'provider',
        stage: 'model',
        code,
        message: redact(message),
        retryable: more.retryable ?? true,
      },
      { cause: more.cause, status: more.status, retryAfterMs: more.retryAfterMs, outcome: more.outcome },
    )
  }

  /** The fault of a reply that says in its status or its body that it failed. */
  function failure(
    status: number,
    said: ReturnType<typeof readProviderError>,
    reply: Exchanged,
    word: string,
  ): ModelFault {
    const { code, retryable, outcome } = classifyFailure(status, said)
    const told = reply.headers['x-should-retry']
    const hint =
      status === 404 ? ` Check the base URL (it ends before /chat/completions) and the model's name.` : ''
    return fault(
      outcome === undefined && word !== '' ? word : code,
      `${where}: ${said.message || `status ${status}`}${hint}`,
      {
        retryable: outcome === undefined && (told === 'true' || (retryable && told !== 'false')),
        status,
        outcome,
        retryAfterMs: retryable ? statedWaitMs(reply.headers) : undefined,
      },
    )
  }

  /** The completion of a reply, or the fault that it is. */
  function read(reply: Exchanged): RawCompletion {
    const { status, text } = reply
    if (status !== 200 && status !== 201) {
      if (status < 400) {
        throw fault(
          `http_${status}`,
          `${where} answered ${status} instead of a completion; check the base URL.`,
          {
            retryable: false,
            status,
          },
        )
      }
      throw failure(status, readProviderError(text, redact), reply, '')
    }
    if (reply.stream !== undefined) {
      if (reply.stream.state === 'incomplete')
        throw fault('stream_incomplete', `${where}: ${reply.stream.message}.`)
      if (reply.stream.state === 'error') {
        const { error } = reply.stream
        throw failure(error.status ?? 500, error, reply, 'api_error')
      }
      return reply.stream.completion
    }
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {
      const start = text.trimStart()
      if (start.startsWith('{')) throw fault('closed_early', `${where} sent half a reply.`, { status })
      const seen = excerpt(text, { redact })
      throw fault('not_json', `${where} answered with something else than JSON: ${seen || '(nothing)'}`, {
        status,
      })
    }
    const fields = (typeof body === 'object' && body !== null ? body : {}) as RawMessage
    const choiceError = (Array.isArray(fields['choices']) ? fields['choices'][0] : undefined) as
      | RawMessage
      | undefined
    if (fields['error'] || fields['object'] === 'error' || choiceError?.['error']) {
      const said = readProviderError(
        fields['error'] || fields['object'] === 'error' ? fields : choiceError,
        redact,
      )
      throw failure(said.status ?? 500, said, reply, 'api_error')
    }
    const completion = readCompletion(fields)
    if (completion === undefined)
      throw fault(
        'empty_choices',
        `${where} sent a reply without choices: ${excerpt(text, { limit: 120, redact })}`,
        { status },
      )
    return completion
  }

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

  async function tryOnce(
    body: Buffer,
    context: ModelContext,
  ): Promise<{ reply: Exchanged; completion: RawCompletion; queuedMs: number }> {
    const permit = await place(context)
    let sample: CallSample = {}
    let connection: Client | undefined
    let queuedMs = permit?.waitedMs ?? 0
    try {
      const request: Dispatcher.DispatchOptions = { origin, path, method: 'POST', headers, body }
      const { signal } = context
      if (options.dispatcher === undefined) {
        const kept = connections ?? (await opening!)
        connection = kept.take()
        if (connection === undefined) {
          const asked = performance.now()
          connection = await queued(context, () => kept.next(signal))
          queuedMs += performance.now() - asked
        }
      }
      const reply = await exchange(connection ?? options.dispatcher!, request, {
        deadlines,
        ticker,
        maxBodyBytes,
        signal,
        where,
        redact,
        fault,
      })
      sample = { status: reply.status, latencyMs: reply.firstByteMs }
      const completion = read(reply)
      if (completion.finish === 'abort' || completion.finish === 'error')
        throw fault('aborted', `${where} gave up on the reply (finish "${completion.finish}").`)
      return { reply, completion, queuedMs: queuedMs + reply.queuedMs }
    } catch (thrown) {
      if (thrown instanceof ModelFault) {
        const { code } = thrown.fault
        const overloaded = code.startsWith('timeout_') || code === 'connection_refused'
        if (thrown.status !== undefined) sample = { ...sample, status: thrown.status }
        else if (code !== 'cancelled') sample = { overloaded }
      }
      throw thrown
    } finally {
      if (connection !== undefined) connections?.release(connection)
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
    const { message, finish, id, model, weightVersion } = completion
    Object.assign(completion, redactReply({ message, finish, id, model, weightVersion }))
  }

  async function answer(body: Buffer, taken: Set<string>, context: ModelContext): Promise<ModelResponse> {
    const began = performance.now()
    const { value, retries } = await withRetry(() => tryOnce(body, context), {
      ...options.retry,
      signal: context.signal,
      onWait: (waiting) => context.onWait?.(waiting, 'backoff'),
    })
    const { reply, completion, queuedMs } = value
    const version = reply.headers['x-weight-version'] ?? reply.headers['x-policy-version']
    if (completion.weightVersion === undefined && typeof version === 'string')
      completion.weightVersion = version

    // Before it is read, so that ids stay unique, and after, since reading puts pieces of text together.
    redactCompletion(completion)
    const response = readResponse(completion, {
      ...(options.thinkTags === undefined ? {} : { thinkTags: options.thinkTags }),
      taken,
    })
    redactReply(response.message)
    if (reply.warnings > 0) response.flags = [...(response.flags ?? []), 'stream_comment_as_data']
    if (response.costUsd === undefined) response.costUsd = costOf(response.usage, price)
    response.timing = {
      firstByteMs: reply.firstByteMs,
      totalMs: performance.now() - began,
      // The time of a failed try, its own queueing included, is in its ledger entry.
      waitMs: retries.reduce((sum, entry) => sum + entry.tookMs + entry.waitedMs, queuedMs),
    }
    if (retries.length > 0) response.retries = retries
    return response
  }

  return {
    id,
    endpoint: `${origin}${path.replace(/\/chat\/completions$/, '')}`,
    priced: price !== null,
    async generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
      if (context.signal.aborted) throw cancelled()
      if (signalsWarn) setMaxListeners(0, context.signal)
      // While thousands of calls wait for their answers, each should hold its body and nothing else of the request.
      return answer(Buffer.from(buildRequestBody(request, bodyOptions)), takenIds(request), context)
    },
    async close() {
      await (await opening)?.destroy()
    },
  }
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

function readBaseUrl(text: string): {
  origin: string
  path: string
  credentials: { headers: Record<string, string>; secrets: string[] }
} {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new QuintainError(
      'options_invalid',
      `The base URL is no http(s) address; write it like http://127.0.0.1:8000/v1.`,
      { facts: { option: 'baseUrl' } },
    )
  }
  const base = url.pathname.replace(/\/+$/, '')
  const path = `${base.endsWith('/chat/completions') ? base : `${base}/chat/completions`}${url.search}`
  const secrets = [...url.searchParams].flatMap(([name, value]) =>
    /key|token|secret|sig/i.test(name) ? [value] : [],
  )
  const headers: Record<string, string> = {}
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
    secrets.push(pair, decodeURIComponent(url.password), headers['authorization'])
  }
  return { origin: url.origin, path, credentials: { headers, secrets } }
}
