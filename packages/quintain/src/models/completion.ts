import type { AssistantMessage } from '../core/message.ts'
import type { ModelResponse, TokenData } from '../core/model.ts'
import type { Finish } from '../core/records.ts'
import { promptIdsOf, sampledTokens, weightVersionOf } from './sampled-tokens.ts'
import { mentionsToolCall, splitThinking, type ThinkTags } from './thinking.ts'
import { normalizeToolCalls } from './tool-call.ts'
import { oddCounts, readUsage } from './usage.ts'

/** A JSON object that nobody has checked yet. */
export type RawMessage = Record<string, unknown>

/** A chat completion as it came, streamed or whole. */
export interface RawCompletion {
  message: RawMessage
  finish?: string
  id?: string
  model?: string
  usage?: unknown
  /** There were others beside it, which nobody asked for. */
  others?: boolean
  promptIds?: number[]
  outputIds?: number[]
  logprobs?: number[]
  /** Token texts beside `logprobs`; vLLM can be told to write `token_id:N` there. */
  logprobTokens?: string[]
  weightVersion?: unknown
  /** Versions of the weights by output token, where they changed within the reply. */
  weightSpans?: { start: number; end: number; version: string }[] | undefined
}

/**
 * Key under which `AssistantMessage.extra` says where the reasoning stood (`reasoning`, `reasoning_content`, or tags),
 * so that it can be sent back to where it came from. Not sent itself.
 */
export const reasoningOrigin = 'quintain.reasoning'

/** Fields of a provider's message that have a place of their own. */
const knownFields = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning',
  'reasoning_content',
])

/** Takes the one completion out of a response body, or says that there is none. */
export function readCompletion(body: RawMessage): RawCompletion | undefined {
  const choices = body['choices']
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (typeof choice !== 'object' || choice === null) return undefined
  const raw = choice as RawMessage
  const message = raw['message']
  if (typeof message !== 'object' || message === null) return undefined
  const completion: RawCompletion = { message: message as RawMessage }
  if (Array.isArray(choices) && choices.length > 1) completion.others = true
  if (typeof raw['finish_reason'] === 'string') completion.finish = raw['finish_reason']
  if (typeof body['id'] === 'string') completion.id = body['id']
  if (typeof body['model'] === 'string') completion.model = body['model']
  if (body['usage']) completion.usage = body['usage']
  const promptIds = promptIdsOf(body, raw)
  if (promptIds !== undefined) completion.promptIds = promptIds
  const { ids, logprobs, tokens } = sampledTokens(raw)
  if (ids !== undefined) completion.outputIds = ids
  if (logprobs !== undefined) completion.logprobs = logprobs
  if (tokens !== undefined) completion.logprobTokens = tokens
  const version = weightVersionOf(body, raw)
  if (version !== undefined) completion.weightVersion = version
  return completion
}

/** A provider's assistant message in our shape. Never throws; oddities are in `flags`. */
export function readMessage(
  raw: RawMessage,
  options: { thinkTags?: ThinkTags; taken?: Set<string> } = {},
): { message: AssistantMessage; flags: string[] } {
  const flags: string[] = []
  const extra: RawMessage = {}
  let { text: content, thinking: reasoning } = readContent(raw['content'])
  if (reasoning !== undefined) extra[reasoningOrigin] = 'content'

  for (const field of ['reasoning_content', 'reasoning']) {
    const value = raw[field]
    if (typeof value !== 'string' || value === '' || reasoning !== undefined) continue
    reasoning = value
    extra[reasoningOrigin] = field
  }
  const split = splitThinking(content, options.thinkTags ?? 'leading')
  if (split.reasoning !== undefined) {
    content = split.content
    if (reasoning === undefined) extra[reasoningOrigin] = split.around
    reasoning = reasoning === undefined ? split.reasoning : `${reasoning}\n${split.reasoning}`
    if (split.unterminated) flags.push('reasoning_unterminated')
  }

  const rawCalls =
    Array.isArray(raw['tool_calls']) && raw['tool_calls'].length > 0
      ? raw['tool_calls']
      : raw['function_call']
        ? [{ function: raw['function_call'] }]
        : []
  const { calls, flags: callFlags } = normalizeToolCalls(rawCalls, options.taken)
  flags.push(...callFlags)
  if (reasoning !== undefined && mentionsToolCall(reasoning)) flags.push('tool_call_in_reasoning')
  if (calls.length === 0 && mentionsToolCall(content)) flags.push('tool_call_in_text')

  for (const key in raw) {
    if (knownFields.has(key) || key === '__proto__') continue
    const value = raw[key]
    const empty = value === null || value === undefined || (Array.isArray(value) && value.length === 0)
    if (!empty) extra[key] = value
  }
  const message: AssistantMessage = { role: 'assistant', content }
  const refusal = raw['refusal']
  if (reasoning !== undefined) message.reasoning = reasoning
  if (calls.length > 0) message.toolCalls = calls
  if (typeof refusal === 'string' && refusal !== '') message.refusal = refusal
  if (Object.keys(extra).length > 0) message.extra = extra
  return { message, flags }
}

function readContent(value: unknown): { text: string; thinking: string | undefined } {
  if (typeof value === 'string') return { text: value, thinking: undefined }
  let text = ''
  let thinking: string | undefined
  if (!Array.isArray(value)) return { text, thinking }
  for (const part of value as unknown[]) {
    if (typeof part === 'string') text += part
    if (typeof part !== 'object' || part === null) continue
    const {
      type,
      text: said,
      thinking: thought,
    } = part as { type?: unknown; text?: unknown; thinking?: unknown }
    if (type === 'thinking' || type === 'reasoning')
      thinking =
        (thinking ?? '') + (typeof thought === 'string' ? thought : readContent(thought ?? said).text)
    else if (typeof said === 'string') text += said
  }
  return { text, thinking }
}

/** A provider's finish reason in our words. */
export function readFinish(raw: string | undefined, message: AssistantMessage): Finish {
  if (message.refusal !== undefined) return 'refusal'
  switch (raw?.toLowerCase()) {
    case 'length':
    case 'max_tokens':
    case 'max_output_tokens':
    case 'model_length':
    case 'model_context_window_exceeded':
      return 'length'
    case 'content_filter':
    case 'safety':
    case 'sensitive':
    case 'recitation':
    case 'prohibited_content':
      return 'content_filter'
    case 'refusal':
      return 'refusal'
    case 'tool_calls':
    case 'tool_use':
    case 'function_call':
      return 'tool_calls'
    case 'stop':
    case 'stop_sequence':
    case 'end_turn':
    case 'eos':
    case 'eos_token':
      return message.toolCalls === undefined ? 'stop' : 'tool_calls'
    default:
      return 'other'
  }
}

/** Ids and log-probabilities in typed arrays. Arrays that do not belong together are left out and flagged. */
export function readTokens(completion: RawCompletion): { tokens?: TokenData; flags: string[] } {
  const { promptIds, logprobs, logprobTokens } = completion
  let outputIds = completion.outputIds
  if (outputIds === undefined && logprobTokens !== undefined && logprobTokens.length > 0) {
    const ids = logprobTokens.map((token) => (/^token_id:\d+$/.test(token) ? Number(token.slice(9)) : -1))
    if (!ids.includes(-1)) outputIds = ids
  }
  if (promptIds === undefined && outputIds === undefined && logprobs === undefined) return { flags: [] }
  const flags: string[] = []
  const tokens: TokenData = {}
  // Ids are kept as 32 bits, and one that is larger would become another.
  const areIds = (ids: number[]): boolean =>
    ids.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31)
  if (promptIds !== undefined) {
    if (areIds(promptIds)) tokens.promptIds = Int32Array.from(promptIds)
    else flags.push('token_data_invalid')
  }
  if (outputIds !== undefined) {
    if (areIds(outputIds)) tokens.outputIds = Int32Array.from(outputIds)
    else flags.push('token_data_invalid')
  }
  if (logprobs !== undefined) {
    const fits = tokens.outputIds === undefined || tokens.outputIds.length === logprobs.length
    const numbers = !logprobs.some(Number.isNaN)
    if (fits && numbers) tokens.logprobs = Float32Array.from(logprobs)
    else flags.push('token_data_mismatch')
  }
  return { tokens, flags }
}

/** All of a completion that does not depend on the clock or the price. */
export function readResponse(
  completion: RawCompletion,
  options: { thinkTags?: ThinkTags; taken?: Set<string> } = {},
): ModelResponse {
  const { message, flags } = readMessage(completion.message, options)
  const { tokens, flags: tokenFlags } = readTokens(completion)
  flags.push(...tokenFlags)
  const usage = readUsage(completion.usage)
  const odd = oddCounts(completion.usage)
  if (odd.names.length > 0) flags.push('odd_usage')
  if (completion.others === true) flags.push('several_choices')
  const { finish, model, id, weightVersion: version, weightSpans: spans } = completion
  const response: ModelResponse = { message, finish: readFinish(finish, message) }
  if (finish !== undefined) response.finishRaw = finish
  if (usage !== undefined) response.usage = usage
  // What was used is known in part only, so its cost is not known.
  if (odd.billed) response.costUsd = null
  if (tokens !== undefined) response.tokens = tokens
  if (model !== undefined) response.model = model
  if (id !== undefined) response.responseId = id
  if (version !== undefined && version !== null) response.policyVersion = String(version)
  if (spans !== undefined) response.policySpans = spans
  if (flags.length > 0) response.flags = flags
  return response
}

/** The outcome that a reply means by itself: the agent would not or could not finish what it said. */
export function outcomeOfReply(response: Pick<ModelResponse, 'finish'>): 'refused' | 'truncated' | undefined {
  if (response.finish === 'refusal' || response.finish === 'content_filter') return 'refused'
  return response.finish === 'length' ? 'truncated' : undefined
}

/** Whether a reply may be kept in a response cache: only one that ended by itself says the same thing next time. */
export function isCacheable(response: Pick<ModelResponse, 'finish'>): boolean {
  return response.finish === 'stop' || response.finish === 'tool_calls'
}
