import { type Content, type Message, type ToolCall, textOf } from '../core/message.ts'
import { ModelFault, type ModelRequest, type Sampling, type ToolSpec } from '../core/model.ts'
import { reasoningOrigin } from './completion.ts'
import { parseToolArguments } from './tool-call.ts'

export interface RequestBodyOptions {
  model: string
  stream: boolean
  /** Ask a server in the manner of vLLM for token ids. */
  tokenIds?: boolean
  /** Name of the field for the most output tokens; OpenAI's reasoning models take `max_completion_tokens` only. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** Send reasoning back to where it came from; true when absent. */
  sendReasoning?: boolean
}

/** What is wrong with a conversation that every provider would refuse. */
export interface ConversationCheck {
  /** Ids of tool calls that have no result before the next message of another role. */
  missing: string[]
  /** Ids of tool results that answer no call. */
  orphaned: string[]
}

/** Pairs tool calls with their results. */
export function checkConversation(messages: readonly Message[]): ConversationCheck {
  const missing: string[] = []
  const orphaned: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) orphaned.push(message.toolCallId)
      continue
    }
    if (open.size > 0) missing.push(...open)
    open = new Set(message.role === 'assistant' ? message.toolCalls?.map(({ id }) => id) : [])
  }
  missing.push(...open)
  return { missing, orphaned }
}

const toolTexts = new WeakMap<readonly ToolSpec[], string>()

/** JSON of the tools; made once per list, since a rollout offers the same list at every turn. */
function toolsText(tools: readonly ToolSpec[]): string {
  let text = toolTexts.get(tools)
  if (text === undefined) {
    text = JSON.stringify(
      tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    )
    toolTexts.set(tools, text)
  }
  return text
}

/**
 * The JSON text of a chat completion request. Settings that are not set are not sent; `sampling.extra` goes in last, as
 * it is. Throws a `ModelFault` for a conversation that every provider would refuse.
 */
export function buildRequestBody(request: ModelRequest, options: RequestBodyOptions): string {
  const { missing, orphaned } = checkConversation(request.messages)
  if (missing.length > 0 || orphaned.length > 0) {
    const what =
      missing.length > 0
        ? `tool calls without a result: ${missing.join(', ')}`
        : `results of no call: ${orphaned.join(', ')}`
    throw localFault('conversation_broken', `The conversation was not sent, it has ${what}.`)
  }
  const { sampling = {}, tools } = request
  const body: Record<string, unknown> = {
    model: options.model,
    messages: request.messages.map((message) => wireMessage(message, options.sendReasoning !== false)),
    ...settings(sampling, options),
    ...(options.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...sampling.extra,
  }
  const text = JSON.stringify(body)
  if (tools === undefined || tools.length === 0 || 'tools' in body) return text
  return `${text.slice(0, -1)},"tools":${toolsText(tools)}}`
}

function settings(sampling: Sampling, options: RequestBodyOptions): Record<string, unknown> {
  const reasoner = /(^|\/)(o\d|gpt-5)/.test(options.model)
  const maxTokens = options.maxTokensField ?? (reasoner ? 'max_completion_tokens' : 'max_tokens')
  // Undefined fields are dropped by JSON.stringify.
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    [maxTokens]: sampling.maxTokens,
    stop: sampling.stop,
    seed: sampling.seed,
    reasoning_effort: sampling.reasoningEffort,
    logprobs: sampling.logprobs === true ? true : undefined,
    return_token_ids: options.tokenIds === true ? true : undefined,
  }
}

function wireMessage(message: Message, sendReasoning: boolean): Record<string, unknown> {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: wireContent(message.content) }
    case 'user':
      return { role: 'user', content: wireContent(message.content), name: message.name }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.toolCallId,
        name: message.name,
        content: wireContent(message.content),
      }
    case 'assistant': {
      const { [reasoningOrigin]: origin, ...extra } = message.extra ?? {}
      const calls = message.toolCalls?.map(wireCall)
      let content: unknown = wireContent(message.content)
      if (message.reasoning !== undefined && sendReasoning) {
        const around = origin as { open?: unknown; close?: unknown } | undefined
        if (origin === 'reasoning' || origin === 'reasoning_content') extra[origin] = message.reasoning
        else if (typeof around?.open === 'string' && typeof around.close === 'string')
          content = around.open + message.reasoning + around.close + textOf(message.content)
      }
      if (calls !== undefined && calls.length > 0 && content === '') content = null
      return {
        ...extra,
        role: 'assistant',
        content,
        refusal: message.refusal,
        tool_calls: calls === undefined || calls.length === 0 ? undefined : calls,
      }
    }
  }
}

function wireContent(content: Content): unknown {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return part
    if (part.data === undefined)
      throw localFault(
        'image_missing',
        'An image of the conversation has no bytes to send; load it from the run first.',
      )
    return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } }
  })
}

function wireCall(call: ToolCall): unknown {
  return {
    id: call.id,
    type: 'function',
    function: {
      name: call.name === '' ? 'unnamed' : call.name,
      arguments: sendableArguments(call.arguments),
    },
  }
}

const sampledKept = 200

/**
 * The arguments of an earlier call as they can be sent back. Servers parse them and answer 400 or 500 for ever after one
 * bad call, so arguments that are no object are replaced by an object that says so, with the beginning of the text.
 */
export function sendableArguments(sampled: string): string {
  const parsed = parseToolArguments(sampled)
  if (parsed.arguments === undefined)
    return JSON.stringify({ [`${parsed.error}_arguments`]: sampled.slice(0, sampledKept) })
  return parsed.flags.length > 0 || !/^\s*\{/.test(sampled) ? JSON.stringify(parsed.arguments) : sampled
}

function localFault(code: string, message: string): ModelFault {
  return new ModelFault({ owner: 'platform', stage: 'model', code, message, retryable: false })
}
