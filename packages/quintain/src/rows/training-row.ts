import type { Message, Seat, ToolRecord } from '../core/index.ts'
import type { TokenProblem } from './call-tokens.ts'
import type { CallClass } from './classify-calls.ts'

/**
 * How close a row is to what was sampled. `sampled`: one call, prompt and output as the server had them.
 * `prefix-merged`: several calls, each prompt of which began with exactly what came before. `text-only`: messages, whose
 * tokens nobody knows.
 */
export const exactnesses = ['sampled', 'prefix-merged', 'text-only'] as const
export type Exactness = (typeof exactnesses)[number]

/** What a stretch of a row is: `prompt` of its first call, `sampled` by a call, or put after that by the `environment`. */
export type SpanSource = 'prompt' | 'sampled' | 'environment'

/** A stretch of a row, from token `start` up to `end`. Mask and log-probabilities are made from these. */
export interface Span {
  start: number
  end: number
  source: SpanSource
  /** Place of the call in the trajectory that sampled it. */
  call?: number
  /** Version of the weights that sampled it, where the server told one. */
  version?: string
}

interface RowOrigin {
  attempt: string
  order: string
  task: string
  seat: Seat
  /** From 0 within the attempt. */
  row: number
  /** Node that the row's last message is, so that the branch is the way from the root to it. */
  branch: number
  /** Of the seat in the attempt; null where it was not scored. */
  reward: number | null
  /** Share of the attempt's loss; see `trainingRows`. */
  weight: number
}

/** A sequence to train on. `ids`, `mask` and `logprobs` have one length, which is the end of the last span. */
export interface TokenRow extends RowOrigin {
  exactness: 'sampled' | 'prefix-merged'
  ids: Int32Array
  /** 1 for tokens to train on, which are those that were sampled here. */
  mask: Uint8Array
  /** As the server gave them, where the mask is 1; 0 elsewhere. */
  logprobs: Float32Array
  spans: Span[]
  /** It was cut to the length that was asked for, or its last output ended for its length. */
  truncated: boolean
}

/** A conversation to train on, where tokens are not known or not wanted. */
export interface ChatRow extends RowOrigin {
  exactness: 'text-only'
  messages: Message[]
  /** One for each message: whether to train on it. */
  trained: boolean[]
  /** What the model was told of; absent where it had none. */
  tools?: readonly ToolRecord[]
  truncated: boolean
}

/** The likely cause for which a prompt does not begin with what came before it. */
export const breakCauses = [
  'history_edited',
  'tools_changed',
  'left_truncated',
  'reasoning_removed',
  'retokenised',
  'template_changed',
] as const
export type BreakCause = (typeof breakCauses)[number]

/** A place where a conversation went on and a new row had to begin. */
export interface Break {
  /** The call that begins the new row, and the one that it does not go on from, by their places in the trajectory. */
  call: number
  after: number
  /** Tokens that both begin with: the first that differs is at this place. */
  at: number
  /** Tokens that were there before. */
  of: number
  cause: BreakCause
}

/** Why a call is not trained on: what its tokens lack, or that nothing of its row was left (`cut_away`), or was wanted (`truncated`). */
export type RefusalReason = TokenProblem | 'cut_away' | 'truncated'

/** A call, or the row that ends with it, that is not trained on. */
export interface Refusal {
  call: number
  reason: RefusalReason
}

/** What became of the calls of a seat in an attempt. */
export interface RowsReport {
  calls: Record<CallClass, number>
  rows: Record<Exactness, number>
  /** Tokens of all rows by their source; those that were sampled are trained on. */
  tokens: Record<SpanSource, number>
  breaks: Break[]
  refused: Refusal[]
  /** Rows that were cut to the length that was asked for. */
  cut: number
}
