import type { AssistantMessage } from '../../core/index.ts'
import type { Renderer } from '../renderer.ts'
import type { Admission } from './admission.ts'
import type { Ask } from './ask.ts'
import type { EndedReply, ReplyForm } from './reply-form.ts'
import type { ServedWeights } from './served-weights.ts'

/** What is to be sampled, and how it is told. */
export interface Question {
  ask: Ask
  form: ReplyForm
  prompts: readonly Int32Array[]
  /** Names under which the sampler knows what prompts begin with, one for each reply. */
  sessions?: readonly string[]
  /** The text of sampled ids. */
  textOf(ids: Int32Array): string
  /** A reply is over: the message that it is. */
  messageOf(reply: Omit<EndedReply, 'message'>): AssistantMessage
}

/** What questions are answered from. */
export interface Answering {
  weights: ServedWeights
  admission: Admission
  /** Replies that one request may have, to all of its prompts together. */
  mostSequences: number
  renderer: Renderer
  /** The name by which clients ask for the model. */
  name: string
  /** After so long without taking anything a reader is hung up on, in milliseconds. */
  stallMs: number
  /** Aborted: every reply ends now. */
  ended: AbortSignal
  /** A word that no other server has, so that replies without a seed differ from one to the next. */
  nonce: string
  log(line: string): void
}
