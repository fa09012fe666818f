import type { Message, ToolSpec } from '../../core/index.ts'
import {
  type Fields,
  isFields,
  listOf,
  optional,
  optionalFlag,
  optionalList,
} from '../../models/dialects/body-fields.ts'
import { readHistory } from '../../models/dialects/chat-history.ts'
import { readTools } from '../../models/dialects/chat-request.ts'
import { type Ask, readAsk, refuseAlternatives, whole } from './ask.ts'
import { invalid } from './problem.ts'

/** What a chat completion asks: a reply to a conversation. */
export interface ChatAsk extends Ask {
  messages: Message[]
  tools: ToolSpec[] | undefined
}

const own = ['messages', 'tools', 'tool_choice', 'top_logprobs', 'max_completion_tokens']

/** Reads the body of a chat completion request. Throws `ModelProblem` or `DialectError`. */
export function readChatAsk(body: Fields, vocabulary: number): ChatAsk {
  const ask = readAsk(body, own, vocabulary)
  refuseAlternatives('top_logprobs', whole(body, 'top_logprobs', 0))
  const tools = readTools(optionalList(body, 'tools') ?? [])
  const offered = tools.length > 0 && readToolChoice(body) === 'auto'
  return {
    ...ask,
    maxTokens: whole(body, 'max_completion_tokens', 1) ?? ask.maxTokens,
    logprobs: optionalFlag(body, 'logprobs') === true,
    messages: readHistory(listOf(body['messages'], 'messages')),
    tools: offered ? tools : undefined,
  }
}

/** Whether tools may be called. That one must be, nobody can promise who samples freely. */
function readToolChoice(body: Fields): 'auto' | 'none' {
  const choice = optional(body, 'tool_choice')
  if (choice === undefined || choice === 'auto') return 'auto'
  if (choice === 'none') return 'none'
  const said = isFields(choice) ? 'a certain tool' : JSON.stringify(choice)
  throw invalid('tool_choice', `'tool_choice' must be "auto" or "none" here: ${said} cannot be promised.`)
}
