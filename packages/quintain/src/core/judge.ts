import type { Message } from './message.ts'
import type { Sampling } from './model.ts'
import type { Finish, Usage } from './records.ts'
import type { JsonSchema } from './standard-schema.ts'

/** What a grader asks a model. The model, prompt and sampling are what make the judge: another one gives other scores. */
export interface JudgeRequest {
  messages: readonly Message[]
  sampling?: Sampling
  /** The reply is to be JSON of this schema, where the provider can be told so. */
  output?: { name: string; schema: JsonSchema; strict?: boolean }
}

/** What the model said. A call that failed for good is a fault of owner `judge`, and never a score. */
export interface JudgeReply {
  /** Its text without reasoning; empty when it said none. */
  text: string
  /** What it said instead of an answer, where the provider marks a refusal. */
  refusal?: string
  finish: Finish
  /** The model that the provider says answered. */
  model?: string
  usage?: Usage
  /** US dollars; null when the price is not known. */
  costUsd?: number | null
}

/**
 * Asks a model that the environment declares in `judges`, by its name there; whoever runs the environment says which
 * model that is. Every call is counted in the ledger `judge` and kept in the private records.
 *
 * Throws a fault of owner `judge` when no reply came, and `usage` for a name that is not declared.
 */
export type AskJudge = (
  judge: string,
  request: JudgeRequest,
  options?: { signal?: AbortSignal },
) => Promise<JudgeReply>
