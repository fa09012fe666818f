import { type Fields, optional, wrong } from '../../models/dialects/body-fields.ts'
import type { Renderer } from '../renderer.ts'
import { type Ask, readAsk, refuseAlternatives, whole } from './ask.ts'
import { invalid } from './problem.ts'
import { readTokenIds } from './token-ids.ts'

/** What a completion asks: what follows each of some prompts. */
export interface CompletionAsk extends Ask {
  prompts: Int32Array[]
}

/** Tokens that are sampled where a request does not say, as OpenAI and vLLM have it. */
const defaultTokens = 16
const mostPrompts = 128

/** Reads the body of a completion request; prompts are ids, or text. Throws `ModelProblem` or `DialectError`. */
export function readCompletionAsk(body: Fields, renderer: Renderer): CompletionAsk {
  const ask = readAsk(body, ['prompt'], renderer.vocabulary)
  const logprobs = whole(body, 'logprobs', 0)
  refuseAlternatives('logprobs', logprobs)
  return {
    ...ask,
    maxTokens: ask.maxTokens ?? defaultTokens,
    logprobs: logprobs !== undefined,
    prompts: readPrompts(optional(body, 'prompt'), renderer),
  }
}

function readPrompts(prompt: unknown, renderer: Renderer): Int32Array[] {
  const several = Array.isArray(prompt) && (prompt.length === 0 || typeof prompt[0] !== 'number')
  const prompts: readonly unknown[] = several ? prompt : [prompt]
  if (prompts.length === 0) throw wrong('prompt', 'a prompt, or several')
  if (prompts.length > mostPrompts)
    throw invalid('prompt', `'prompt' must be at most ${mostPrompts} prompts.`)
  return prompts.map((one) => {
    if (typeof one === 'string') return renderer.encode(one)
    if (Array.isArray(one)) return readTokenIds(one, 'prompt', renderer.vocabulary)
    throw wrong('prompt', 'text, an array of token ids, or an array of these')
  })
}
