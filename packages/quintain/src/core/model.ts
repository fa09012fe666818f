import type { AssistantMessage, Message } from './message.ts'
import type { Cut, Fault, Finish, RetryEntry, Usage } from './records.ts'
import type { JsonSchema } from './standard-schema.ts'
import type { ReplyDelta, WireReply, WireRequest } from './wire.ts'

/** Sampling settings. What is not set is not sent; `extra` is merged into the request body as it is. */
export interface Sampling {
  temperature?: number
  topP?: number
  /** Most tokens of one reply, reasoning included. */
  maxTokens?: number
  stop?: string[]
  seed?: number
  /** `low | medium | high`, where a provider has it. */
  reasoningEffort?: string
  /** Ask for the log-probability of each sampled token. */
  logprobs?: boolean
  extra?: Record<string, unknown>
}

/** A tool as a model is told of it. */
export interface ToolSpec {
  name: string
  description: string
  parameters: JsonSchema
  /** Whether arguments are sampled so that they fit the schema, where the one who asks says it. */
  strict?: boolean | undefined
}

export interface ModelRequest {
  messages: readonly Message[]
  tools?: readonly ToolSpec[]
  sampling?: Sampling
  /** The request as a program wrote it, where it came through the gateway. */
  wire?: WireRequest
}

/** Ids and log-probabilities exactly as the server sampled them. `outputIds` and `logprobs` have one length when both are given. */
export interface TokenData {
  promptIds?: Int32Array
  outputIds?: Int32Array
  logprobs?: Float32Array
}

/** What one model call gave. Malformed output is described by `flags`, never thrown. */
export interface ModelResponse {
  message: AssistantMessage
  finish: Finish
  /** The provider's own word for the finish, if it had one. */
  finishRaw?: string
  usage?: Usage
  /** US dollars; null when the price of this model is not known. */
  costUsd?: number | null
  tokens?: TokenData
  /** The model the provider says answered. */
  model?: string
  responseId?: string
  /** Version of the weights, where a server tells it. */
  policyVersion?: string
  /** Which version sampled which of the output tokens, where it changed within the reply. Goes before `policyVersion`. */
  policySpans?: { start: number; end: number; version: string }[]
  /** Milliseconds. `waitMs`: what was not the model's work, which is queueing, back-off and the tries that failed. */
  timing?: { firstByteMs?: number; totalMs: number; waitMs: number }
  retries?: RetryEntry[]
  /** Oddities of the reply worth counting, such as `tool_call_in_reasoning`. */
  flags?: string[]
  /** The reply as it came, where the request has `wire` and the upstream speaks its dialect. */
  wire?: WireReply
  /** True when a scripted policy has nothing more to do: the harness ends, as `completed` or as `endedAs` says. */
  ended?: boolean
  /** With `ended`: how the rollout that a recorded policy says again was cut when it was recorded. */
  endedAs?: Cut
}

/**
 * Anything that answers a model request: an endpoint, a script, a recording.
 *
 * `generate` resolves with what came back, however odd, and throws only a `ModelFault`; for a request with `wire` also a
 * `DialectError`, before anything is sent, when the model cannot be asked what the program asks.
 */
export interface Model {
  /** Identity for records and reports, such as `openai-compatible:gpt-4o` or `script:oracle`. */
  readonly id: string
  /**
   * Where its calls go, without credentials; for the records, so that a resumed run asks the same server. Of replicas all
   * of them, apart by spaces.
   */
  readonly endpoint?: string
  /** What kind of server stands there, such as `vllm`, where the model was told so; for the records, too. */
  readonly server?: string
  /** False when the price of its calls is not known, so that no cost cap can be kept. */
  readonly priced?: boolean
  /** US dollars that a usage costs; null when the price is not known. For calls that nobody waited for to the end. */
  costOf?(usage: Usage): number | null
  generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse>
  /** How many tokens a request's prompt has; undefined where the server cannot say. No call of the model. */
  countTokens?(request: ModelRequest, context: ModelContext): Promise<number | undefined>
  close?(): Promise<void> | void
}

export interface ModelContext {
  signal: AbortSignal
  /** Which attempt and seat asks; for logs and recorded policies. */
  attempt?: string
  task?: string
  repeat?: number
  seat?: string
  /**
   * Told `true` when the call starts to wait and `false` when it goes on: an agent's clock stands still between. `queue`
   * is for a free place at the provider, `backoff` after a try that failed.
   */
  onWait?: (waiting: boolean, why?: 'queue' | 'backoff') => void
  /**
   * Told each piece of the reply as it comes; asks for a stream. A call of which a piece was told is not tried again,
   * since what was told cannot be taken back. A model that does not stream (a script) tells nothing. While the promise
   * that it gives is open, nothing more is read: a slow reader costs no memory.
   */
  onDelta?: (delta: ReplyDelta) => void | Promise<void>
}

/** What a provider said of a body that a program wrote. */
export interface RejectedBody {
  status: number
  /** The provider's own words, where it speaks the program's protocol. */
  body?: Record<string, unknown>
}

/** A model call that gave no answer: a fault of the provider, or a fact the agent's outcome must carry. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault'
  readonly fault: Fault
  /** Set when the failure is the agent's own outcome: its history no longer fits, or the provider refused the content. */
  readonly outcome: 'context_overflow' | 'refused' | undefined
  readonly status: number | undefined
  /** Wait that the server asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined
  readonly retries: RetryEntry[]
  /** Set when the provider says that the body is wrong which a program wrote: the program's to see, and to mend. */
  readonly rejected: RejectedBody | undefined

  constructor(
    fault: Fault,
    options: {
      outcome?: 'context_overflow' | 'refused' | undefined
      status?: number | undefined
      retryAfterMs?: number | undefined
      retries?: RetryEntry[]
      rejected?: RejectedBody | undefined
      cause?: unknown
    } = {},
  ) {
    super(fault.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.fault = fault
    this.outcome = options.outcome
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
    this.retries = options.retries ?? []
    this.rejected = options.rejected
  }
}
