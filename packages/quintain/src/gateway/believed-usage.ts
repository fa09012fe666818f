import { type ModelRequest, type ModelResponse, noUsage, textOf, type Usage } from '../core/index.ts'
import { guessedTokens, tokensOfChars } from './guessed-tokens.ts'

/** Characters of the longest tokens that vocabularies have: runs of spaces. A count that needs longer ones is none. */
const longestToken = 128

/**
 * What a reply used, where its server does not say, or says less than a reply of its length can have: by the ids of its
 * tokens, else a token for four characters. Undefined where what the server says can be.
 */
export function usageInPlaceOf(
  request: ModelRequest,
  { message, usage, tokens }: ModelResponse,
): Usage | undefined {
  const { content, reasoning = '', refusal = '', toolCalls = [] } = message
  const called = toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
  const chars = textOf(content).length + reasoning.length + refusal.length + called
  const ids = tokens?.outputIds?.length
  const told = usage?.output ?? 0
  if (usage !== undefined && told >= (ids ?? Math.ceil(chars / longestToken))) return undefined
  return {
    ...(usage ?? { ...noUsage, fresh: guessedTokens(request) }),
    output: Math.max(told, ids ?? tokensOfChars(chars)),
  }
}
