import { randomUUID } from 'node:crypto'
import type { HttpAnswer, HttpCall } from '../../core/http-port.ts'
import { invalid, ModelProblem } from './problem.ts'
import type { Answering, Question } from './question.ts'
import type { EndedReply } from './reply-form.ts'
import { repliesTo, sampleAll } from './sampling.ts'
import type { ServedWeights } from './served-weights.ts'
import { sendStreamed } from './streamed-answer.ts'

/** Samples replies and sends them, whole or as they come. Undefined where a stream was sent. Throws `ModelProblem`. */
export async function answer(
  call: HttpCall,
  question: Question,
  answering: Answering,
): Promise<HttpAnswer | undefined> {
  const { ask, form, prompts } = question
  const { weights, admission, name, nonce } = answering
  const sequences = prompts.length * ask.choices
  checkCount(sequences, answering)
  checkPrompts(prompts, weights)
  const over = new AbortController()
  call.response.once('close', () => over.abort(new Error('The client has gone.')))
  const signal = AbortSignal.any([over.signal, answering.ended])
  const places = admission.enter(sequences, signal)
  // All replies to a request are of the weights with which the first one begins.
  await places[0]
  const lease = weights.lease()
  const id = `${form.idPrefix}${randomUUID()}`
  // Of a seed that was asked for nothing is made but that; else no two requests have the same.
  const seed = ask.seed === undefined ? `${nonce}:${id}` : `asked:${ask.seed}`
  const body = {
    id,
    created: Math.floor(Date.now() / 1_000),
    model: name,
    weight_version: lease.version,
  }
  const headers = { 'x-weight-version': lease.version }
  const replies = repliesTo(question, answering.renderer)
  const giveUp = (reason: unknown) => over.abort(reason)
  // Whoever reads slowly holds no place once all is sampled.
  const sample = (onTokens?: () => void) =>
    sampleAll(replies, { question, answering, places, lease, seed, signal, giveUp, onTokens }).finally(() =>
      lease.release(),
    )
  const usageOf = (ended: readonly EndedReply[]) => usage(prompts, ended)
  if (ask.stream) {
    await sendStreamed(call, { ask, form, replies, body, headers, sample, usageOf }, answering)
    return undefined
  }
  const ended = await sample()
  const withPrompt = form.promptInBody && ask.tokenIds
  return {
    headers,
    json: {
      ...body,
      object: form.object,
      choices: ended.map((reply) => form.whole(reply)),
      usage: usageOf(ended),
      ...(withPrompt ? { prompt_token_ids: [...replies[0]!.prompt] } : {}),
    },
  }
}

/** Refuses a request for more than one may have, and for more than could ever wait together. */
function checkCount(sequences: number, { mostSequences }: Answering): void {
  if (sequences <= mostSequences) return
  throw invalid(
    'n',
    `This asks for ${sequences} replies, 'n' to each prompt, and one request may have ${mostSequences}. Ask for them in several.`,
  )
}

/** Refuses prompts that leave no room, before anything is sampled. */
function checkPrompts(prompts: readonly Int32Array[], { context }: ServedWeights): void {
  for (const prompt of prompts) {
    if (prompt.length === 0) throw invalid('prompt', "'prompt' must hold at least one token.")
    if (prompt.length < context) continue
    throw new ModelProblem(
      400,
      'context_length_exceeded',
      `This model's maximum context length is ${context} tokens, and the prompt has ${prompt.length}: none is left for a reply. Shorten the conversation.`,
    )
  }
}

function usage(prompts: readonly Int32Array[], replies: readonly EndedReply[]): Record<string, unknown> {
  const asked = prompts.reduce((sum, { length }) => sum + length, 0)
  const sampled = replies.reduce((sum, { ids }) => sum + ids.length, 0)
  return { prompt_tokens: asked, completion_tokens: sampled, total_tokens: asked + sampled }
}
