import type { HttpCall } from '../../core/http-port.ts'
import type { Ask } from './ask.ts'
import { EventStream } from './event-stream.ts'
import { broken, problemBody, problemOf } from './problem.ts'
import type { Answering } from './question.ts'
import type { EndedReply, ReplyForm } from './reply-form.ts'
import type { Sampling } from './sampling.ts'

interface StreamedAnswer {
  ask: Ask
  form: ReplyForm
  replies: readonly Sampling[]
  /** What stands in every event. */
  body: Record<string, unknown>
  headers: Readonly<Record<string, string>>
  sample(onTokens: () => void): Promise<EndedReply[]>
  usageOf(replies: readonly EndedReply[]): Record<string, unknown>
}

/** Sends replies as they are sampled, as server-sent events. Never rejects: a stream that breaks says so, and hangs up. */
export async function sendStreamed(call: HttpCall, answer: StreamedAnswer, { stallMs, log }: Answering) {
  const { ask, form, replies, body, headers, sample, usageOf } = answer
  const event = (fields: Record<string, unknown>) =>
    `data: ${JSON.stringify({ ...body, object: form.chunkObject, ...fields })}\n\n`
  const stream = new EventStream(call.response, {
    headers,
    stallMs,
    next: (isBehind) => replies.map((reply) => untold(reply, { ask, form, event, isBehind })).join(''),
  })
  try {
    const ended = await sample(() => stream.wake())
    const usage = ask.usage ? event({ choices: [], usage: usageOf(ended) }) : ''
    await stream.end(`${usage}data: [DONE]\n\n`)
  } catch (thrown) {
    // Nobody is there to be told.
    if (call.response.destroyed) return
    const problem = problemOf(thrown)
    if (problem === undefined) log(`model: ${call.path}: ${String(thrown)}`)
    stream.breakOff(problemBody(problem ?? broken))
  }
}

/**
 * Events of what there is of a reply and was not told: one for each time that the sampler gave more, or one for all of it
 * to a reader that is behind.
 */
function untold(
  { index, prompt, growing, grown, told, ended }: Sampling,
  {
    ask,
    form,
    event,
    isBehind,
  }: {
    ask: Ask
    form: ReplyForm
    event: (fields: Record<string, unknown>) => string
    isBehind: boolean
  },
): string {
  let text = ''
  const { said, ids, logprobs } = growing
  const stretches = [...(isBehind ? [] : grown), { tokens: ids.length, characters: said.length }]
  grown.length = 0
  for (const { tokens, characters } of stretches) {
    const isMore = tokens > told.tokens || characters > told.characters
    const first = !told.begun
    if (!isMore && (!first || ended === undefined)) continue
    const piece = form.piece({
      index,
      prompt: first ? prompt : undefined,
      text: said.slice(told.characters, characters),
      ids: ids.slice(told.tokens, tokens),
      logprobs: logprobs.slice(told.tokens, tokens),
      offset: told.characters,
    })
    const withPrompt = first && form.promptInBody && ask.tokenIds
    text += event({ choices: [piece], ...(withPrompt ? { prompt_token_ids: [...prompt] } : {}) })
    told.begun = true
    told.tokens = tokens
    told.characters = characters
  }
  if (ended !== undefined && !told.end) {
    told.end = true
    text += event({ choices: [form.end(ended)] })
  }
  return text
}
