import type { JsonSchema } from './standard-schema.ts'

/** The protocols in which programs ask models: OpenAI's Chat Completions and Responses, Anthropic's Messages. */
export type DialectName = 'chat' | 'responses' | 'messages'

/**
 * A request as a program wrote it, beside what `ModelRequest` says of it: for clients that can carry more than that.
 * A client of the same dialect sends `body` on, with what is unknown in it; one of another dialect writes the settings
 * in its own way, and refuses what it cannot express (`DialectError`).
 */
export interface WireRequest {
  dialect: DialectName
  /** The body as it was parsed, its history whole. Nobody writes into it. */
  body: Readonly<Record<string, unknown>>
  /** The JSON that `body` was read from, where it is at hand. */
  text?: string
  /** The program asked for an event stream. */
  stream: boolean
  settings: WireSettings
  wants: WireWants
}

/** Settings beyond `Sampling` that more than one dialect knows. */
export interface WireSettings {
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string }
  parallelToolCalls?: boolean
  responseFormat?:
    | { type: 'json' }
    | { type: 'schema'; name: string; schema: JsonSchema; strict?: boolean; description?: string }
  topK?: number
  minP?: number
  frequencyPenalty?: number
  presencePenalty?: number
  topLogprobs?: number
  /** `low | medium | high`: how much is said, where a provider has it. */
  verbosity?: string
  /** Tokens of reasoning at most; `reasoningEffort` of `Sampling` is the other way to say it. */
  reasoningTokens?: number
  /**
   * Fields that change what is sampled and that no other dialect knows, such as `logit_bias`: a client of another
   * dialect refuses them. What changes nothing that is sampled (`metadata`, `cache_control`, `user`) is not listed.
   */
  own: string[]
}

/** What a program asked to see of the reply. The gateway asks for more and takes that out again. */
export interface WireWants {
  logprobs: boolean
  tokenIds: boolean
  /** Usage at the end of a stream. */
  usage: boolean
  /** A tool call in the form of Chat Completions' first version, `function_call`. */
  functionCall?: boolean
}

/**
 * A piece of a reply while it comes. `event` is an event of the stream as it came, when the upstream speaks the
 * dialect of the program; the others are the same in words of no dialect.
 */
export type ReplyDelta =
  | { type: 'event'; event?: string; data: string; json: Record<string, unknown> | undefined }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  /** A tool call begins; `call` counts the calls of a reply from 0. */
  | { type: 'call'; call: number; id: string; name: string }
  | { type: 'arguments'; call: number; text: string }

/** A whole reply as it came, when the upstream speaks the dialect of the program. */
export interface WireReply {
  dialect: DialectName
  body: Record<string, unknown>
  /** The JSON that `body` was read from, where nothing was changed in it. */
  text?: string
}
