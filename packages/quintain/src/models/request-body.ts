import { type Content, type Message, type ToolCall, textOf } from '../core/message.ts'
import { ModelFault, type ModelRequest, type Sampling, type ToolSpec } from '../core/model.ts'
import type { WireSettings } from '../core/wire.ts'
import { reasoningOrigin } from './completion.ts'
import { DialectError } from './dialects/dialect.ts'
import { urlOf } from './dialects/image-parts.ts'
import { toldFailures } from './dialects/told-failures.ts'
import { type ServerKind, tokenAsks } from './token-asks.ts'
import { parseToolArguments } from './tool-call.ts'
import { heededToolChoice } from './tool-choice.ts'

export interface RequestBodyOptions {
  model: string
  stream: boolean
  /** Ask for the ids of prompt and output, in the manner of `server`. */
  tokenIds?: boolean
  /** What stands behind the endpoint, where it is one of those whose extras are known. */
  server?: ServerKind
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
      tools.map(({ name, description, parameters, strict }) => ({
        type: 'function',
        function: { name, description, parameters, strict },
      })),
    )
    toolTexts.set(tools, text)
  }
  return text
}

/** Throws for a conversation that every provider would refuse: `DialectError` where a program wrote it, else `ModelFault`. */
export function assertConversation(request: ModelRequest): void {
  const { missing, orphaned } = checkConversation(request.messages)
  if (missing.length === 0 && orphaned.length === 0) return
  const what =
    missing.length > 0
      ? `tool calls without a result: ${missing.join(', ')}`
      : `results of no call: ${orphaned.join(', ')}`
  const message = `The conversation was not sent, it has ${what}.`
  if (request.wire !== undefined) throw new DialectError('invalid_request', message, 'messages')
  throw localFault('conversation_broken', message)
}

/** Throws a `ModelFault` where no token may be sampled: servers answer 400 to it, and some sample without a limit. */
export function assertBudget(maxTokens: number | undefined): void {
  if (maxTokens === undefined || maxTokens >= 1) return
  throw localFault('budget_spent', `The request was not sent, it leaves ${maxTokens} tokens for the reply.`)
}

/**
 * The JSON text of a chat completion request. Settings that are not set are not sent; `sampling.extra` goes in last, as
 * it is. Throws a `ModelFault` for a conversation that every provider would refuse, and a `DialectError` for settings of
 * another dialect that cannot be said here.
 */
export function buildRequestBody(request: ModelRequest, options: RequestBodyOptions): string {
  assertConversation(request)
  const { sampling = {}, tools, wire } = request
  assertBudget(sampling.maxTokens)
  const body: Record<string, unknown> = {
    model: options.model,
    messages: toldFailures(request).map((message) => chatMessage(message, options.sendReasoning !== false)),
    ...chatSettings(sampling, options),
    ...(wire === undefined ? {} : translatedSettings(wire.settings, tools, options)),
    ...(options.tokenIds === true ? tokenAsks(options.server) : {}),
    // The program's own wish for alternatives goes before the fewest that are asked for here.
    ...(wire?.settings.topLogprobs === undefined ? {} : { top_logprobs: wire.settings.topLogprobs }),
    ...(options.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...sampling.extra,
  }
  const text = JSON.stringify(body)
  if (tools === undefined || tools.length === 0 || 'tools' in body) return text
  return `${text.slice(0, -1)},"tools":${toolsText(tools)}}`
}

/** Name of the field for the most output tokens, where nobody has chosen one. */
export function maxTokensField(options: RequestBodyOptions): 'max_tokens' | 'max_completion_tokens' {
  const reasoner = /(^|\/)(o\d|gpt-5)/.test(options.model)
  return options.maxTokensField ?? (reasoner ? 'max_completion_tokens' : 'max_tokens')
}

function chatSettings(sampling: Sampling, options: RequestBodyOptions): Record<string, unknown> {
  // Undefined fields are dropped by JSON.stringify.
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    [maxTokensField(options)]: sampling.maxTokens,
    stop: sampling.stop,
    seed: sampling.seed,
    reasoning_effort: sampling.reasoningEffort,
    logprobs: sampling.logprobs === true ? true : undefined,
  }
}

/** Settings of a program that speaks another dialect, in the words of this one. Throws `DialectError`. */
function translatedSettings(
  settings: WireSettings,
  tools: readonly ToolSpec[] | undefined,
  options: RequestBodyOptions,
): Record<string, unknown> {
  const { own, responseFormat, reasoningTokens } = settings
  const toolChoice = heededToolChoice(settings.toolChoice, tools, options.server)
  const extras = options.server === undefined
  const budget = options.server === 'vllm' ? reasoningTokens : undefined
  for (const [name, given] of [
    ...own.map((field) => [field, true] as const),
    ['top_k', extras && settings.topK !== undefined] as const,
    ['min_p', extras && settings.minP !== undefined] as const,
    ['a budget of reasoning tokens', budget === undefined && (reasoningTokens ?? 0) > 0] as const,
  ]) {
    if (given)
      throw new DialectError(
        'unsupported',
        `This run's model is asked by Chat Completions, which cannot say ${name}; leave it out, or run the agent with a model of its own protocol.`,
        name,
      )
  }
  return {
    tool_choice:
      typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.tool } } : toolChoice,
    parallel_tool_calls: settings.parallelToolCalls,
    response_format: responseFormat && chatFormat(responseFormat),
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    top_k: settings.topK,
    min_p: settings.minP,
    thinking_token_budget: budget,
    verbosity: settings.verbosity,
  }
}

function chatFormat(format: NonNullable<WireSettings['responseFormat']>): Record<string, unknown> {
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return { type: 'json_schema', json_schema: { name, schema, strict, description } }
}

/** A message as Chat Completions has it. */
export function chatMessage(message: Message, sendReasoning: boolean): Record<string, unknown> {
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
      const origin = message.extra?.[reasoningOrigin]
      const extra = providersFields(message.extra)
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

/** Fields of a provider's message, without our own notes on it. */
export function providersFields(extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(extra).filter(([key]) => !key.startsWith('quintain.')))
}

function wireContent(content: Content): unknown {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return part
    return { type: 'image_url', image_url: { url: urlOf(part), detail: part.detail } }
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
