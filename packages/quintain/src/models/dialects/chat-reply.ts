import {
  type AssistantMessage,
  type Finish,
  type ModelResponse,
  textOf,
  type Usage,
} from '../../core/index.ts'
import { providersFields } from '../request-body.ts'
import { inputTokens } from '../usage.ts'
import { isFields } from './body-fields.ts'
import { unaskedOf } from './chat-unasked.ts'
import type { ReplyContext, ReplyError } from './dialect.ts'

/** The body of a whole chat completion: the upstream's own where it spoke this dialect, else one that says the same. */
export function writeChatReply(response: ModelResponse, context: ReplyContext): Record<string, unknown> {
  const { wire } = context.request
  if (response.wire?.dialect === 'chat') {
    const body = unaskedOf(wire).strip(response.wire.body)
    return wire.wants.functionCall === true ? inFirstForm(body) : body
  }
  const { message } = response
  const { promptIds, outputIds } = response.tokens ?? {}
  const usage = chatUsage(response.usage)
  const body: Record<string, unknown> = {
    id: response.responseId ?? context.id,
    object: 'chat.completion',
    created: context.created,
    model: response.model ?? context.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: contentOf(message),
          refusal: message.refusal ?? null,
          ...besides(message),
          ...(message.toolCalls === undefined ? {} : { tool_calls: chatCalls(message) }),
        },
        logprobs: wire.wants.logprobs ? chatLogprobs(response) : null,
        finish_reason: chatFinish(response.finish, message),
        ...(wire.wants.tokenIds && outputIds !== undefined ? { token_ids: [...outputIds] } : {}),
      },
    ],
    ...(usage === undefined ? {} : { usage }),
    ...(wire.wants.tokenIds && promptIds !== undefined ? { prompt_token_ids: [...promptIds] } : {}),
  }
  return wire.wants.functionCall === true ? inFirstForm(body) : body
}

/** Null beside tool calls, as OpenAI has it; else text. */
function contentOf(message: AssistantMessage): string | null {
  const text = textOf(message.content)
  return text === '' && (message.toolCalls !== undefined || message.refusal !== undefined) ? null : text
}

/**
 * What a message says beside text and calls: reasoning, and fields of another provider (such as signed reasoning), which
 * a program that sends the message back sends back with it.
 */
export function besides(message: AssistantMessage): Record<string, unknown> {
  return {
    ...providersFields(message.extra),
    ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
  }
}

function chatCalls(message: AssistantMessage): unknown[] {
  return (message.toolCalls ?? []).map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }))
}

/** Log-probabilities by token. The texts of tokens are not kept, their ids are. */
export function chatLogprobs({ tokens }: ModelResponse): Record<string, unknown> | null {
  if (tokens?.logprobs === undefined) return null
  const { logprobs, outputIds } = tokens
  const content = Array.from(logprobs, (logprob, at) => ({
    token: outputIds === undefined ? '' : `token_id:${outputIds[at]}`,
    logprob,
    bytes: null,
    top_logprobs: [],
  }))
  return { content, refusal: null }
}

export function chatUsage(usage: Usage | undefined): Record<string, unknown> | undefined {
  if (usage === undefined) return undefined
  const prompt = inputTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    ...(usage.reasoning === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  }
}

export function chatFinish(finish: Finish, message: AssistantMessage): string {
  if (finish === 'length' || finish === 'content_filter') return finish
  return message.toolCalls === undefined ? 'stop' : 'tool_calls'
}

/** A reply or a chunk of one with its (first) tool call as `function_call`. */
export function inFirstForm(body: Record<string, unknown>): Record<string, unknown> {
  const { choices } = body
  if (!Array.isArray(choices)) return body
  return { ...body, choices: choices.map(choiceInFirstForm) }
}

function choiceInFirstForm(choice: unknown): unknown {
  if (!isFields(choice)) return choice
  const changed: Record<string, unknown> = { ...choice }
  for (const key of ['message', 'delta']) {
    const said = changed[key]
    if (!isFields(said) || !Array.isArray(said['tool_calls'])) continue
    const { tool_calls: calls, ...rest } = said
    const first: unknown = calls.find((call) => isFields(call) && (call['index'] ?? 0) === 0)
    const called = isFields(first) ? first['function'] : undefined
    changed[key] = isFields(called) ? { ...rest, function_call: called } : rest
  }
  if (changed['finish_reason'] === 'tool_calls') changed['finish_reason'] = 'function_call'
  return changed
}

const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** An error as OpenAI's endpoints write it. */
export function chatError(error: ReplyError): Record<string, unknown> {
  const type = error.status >= 500 ? 'server_error' : (typeOfStatus[error.status] ?? 'invalid_request_error')
  return { error: { message: error.message, type, param: error.param ?? null, code: error.code } }
}
