import { QuintainError } from '../../../core/errors.ts'
import type { EngineCapabilities, SampleRequest } from '../../engine.ts'
import type { CheckedRequest } from './sampling-dispatch.ts'

/**
 * A request with its defaults. Throws `datum_invalid` for what no engine could sample, and `context_overflow` for a prompt
 * that leaves no room for a token.
 */
export function checkedRequest(
  request: SampleRequest,
  { vocabulary, context }: Pick<EngineCapabilities, 'vocabulary' | 'context'>,
): CheckedRequest {
  const { prompt, maxTokens, temperature = 1, topK = 0, topP = 1, stop = [], seed, session } = request
  if (prompt.length === 0) {
    throw invalid('The prompt has no tokens. A prompt has one at least, such as the one that begins a reply.')
  }
  if (prompt.length >= context) {
    throw new QuintainError(
      'context_overflow',
      `The prompt has ${prompt.length} tokens and the context of the policy is ${context}: there is no room for a token. Shorten the conversation, or train a policy with a larger context.`,
      { facts: { prompt: prompt.length, context } },
    )
  }
  const stranger = prompt.find((id) => id < 0 || id >= vocabulary)
  if (stranger !== undefined) {
    throw invalid(`The prompt has the id ${stranger} and the vocabulary has ${vocabulary}: ids run from 0.`)
  }
  if (!Number.isInteger(maxTokens) || maxTokens < 1) {
    throw invalid(`maxTokens is ${maxTokens}: it is a whole number from 1.`)
  }
  if (!(temperature >= 0 && temperature < Infinity)) {
    throw invalid(`The temperature is ${temperature}: it is 0 (greedy) or more.`)
  }
  if (!Number.isInteger(topK) || topK < 0) throw invalid(`topK is ${topK}: it is a whole number, 0 for all.`)
  if (!(topP > 0 && topP <= 1)) throw invalid(`topP is ${topP}: it is more than 0 and at most 1.`)
  return { prompt, maxTokens, temperature, topK, topP, stop, seed, session }
}

function invalid(message: string): QuintainError {
  return new QuintainError('datum_invalid', message)
}
