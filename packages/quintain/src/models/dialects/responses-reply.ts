import { type AssistantMessage, textOf } from '../../core/message.ts'
import type { ModelResponse } from '../../core/model.ts'
import type { RawCompletion, RawMessage } from '../completion.ts'
import { inputTokens } from '../usage.ts'
import { isFields } from './body-fields.ts'
import type { ReplyContext } from './dialect.ts'
import type { KeptItem } from './reply-layout.ts'
import { markOf } from './reply-mark.ts'
import { itemId } from './responses-ids.ts'
import { defined, reasoningText } from './responses-input.ts'
import { type Item, responsesLayout } from './responses-items.ts'

/** The reply in the body of a response, in the shape of a chat completion; undefined when it holds none. */
export function readResponsesReply(body: RawMessage): RawCompletion | undefined {
  const { output, status, incomplete_details: details } = body
  if (!Array.isArray(output) || body['error']) return undefined
  if (status !== undefined && status !== 'completed' && status !== 'incomplete') return undefined
  const logprobs: Logprobs = { values: [], tokens: [] }
  const completion: RawCompletion = { message: readOutput(output, logprobs) }
  const reason = isFields(details) ? details['reason'] : undefined
  completion.finish = typeof reason === 'string' ? reason : status === 'incomplete' ? 'incomplete' : 'stop'
  if (typeof body['id'] === 'string') completion.id = body['id']
  if (typeof body['model'] === 'string') completion.model = body['model']
  if (body['usage']) completion.usage = body['usage']
  if (logprobs.values.length > 0) {
    completion.logprobs = logprobs.values
    completion.logprobTokens = logprobs.tokens
  }
  return completion
}

interface Logprobs {
  values: number[]
  tokens: string[]
}

function readOutput(output: readonly unknown[], logprobs: Logprobs): RawMessage {
  let text = ''
  let refusal = ''
  const reasoning: string[] = []
  const calls: RawMessage[] = []
  const kept: KeptItem[] = []
  for (const item of output) {
    if (!isFields(item)) continue
    const { id } = item
    if (item['type'] === 'message') {
      const before = text.length
      for (const part of Array.isArray(item['content']) ? (item['content'] as unknown[]) : []) {
        if (!isFields(part)) continue
        if (typeof part['text'] === 'string') text += part['text']
        if (typeof part['refusal'] === 'string') refusal += part['refusal']
        readLogprobs(part['logprobs'], logprobs)
      }
      const { phase } = item
      kept.push({ kind: 'text', chars: text.length - before, item: defined({ id, phase }) })
    } else if (item['type'] === 'function_call') {
      calls.push({ id: item['call_id'], function: { name: item['name'], arguments: item['arguments'] } })
      kept.push({ kind: 'call', item: defined({ id }) })
    } else {
      if (item['type'] === 'reasoning') {
        const words = shownReasoning(item)
        if (words !== '') reasoning.push(words)
      }
      kept.push({ kind: 'whole', item })
    }
  }
  return {
    role: 'assistant',
    content: text,
    ...(refusal === '' ? {} : { refusal }),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n\n') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    [responsesLayout]: kept,
  }
}

/** Never throws, unlike what reads a program's item. */
function shownReasoning(item: Item): string {
  const list = (value: unknown): unknown => (Array.isArray(value) ? value : undefined)
  return reasoningText({ content: list(item['content']), summary: list(item['summary']) })
}

function readLogprobs(given: unknown, logprobs: Logprobs): void {
  if (!Array.isArray(given)) return
  for (const entry of given as unknown[]) {
    const { logprob, token } = isFields(entry) ? entry : {}
    logprobs.values.push(typeof logprob === 'number' ? logprob : Number.NaN)
    logprobs.tokens.push(typeof token === 'string' ? token : '')
  }
}

/** A reply as a program of this dialect reads it. */
export function writeResponsesReply(response: ModelResponse, context: ReplyContext): Item {
  const { wire } = response
  if (wire?.dialect === 'responses') return shownBody(wire.body, context)
  return finishedBody(writeOutput(response, context), response, context)
}

/** The items of a reply that was sampled in another dialect. */
export function writeOutput(response: ModelResponse, context: ReplyContext): Item[] {
  const { message } = response
  const status = response.finish === 'length' ? 'incomplete' : 'completed'
  const items: Item[] = []
  if (hasReasoning(message))
    items.push(reasoningItem(itemId('rs', context.id), message.reasoning ?? '', context))
  const text = textOf(message.content)
  const calls = message.toolCalls ?? []
  const parts: Item[] = []
  if (text !== '' || (message.refusal === undefined && calls.length === 0)) parts.push(textPart(text))
  if (message.refusal !== undefined) parts.push({ type: 'refusal', refusal: message.refusal })
  if (parts.length > 0) items.push(messageItem(itemId('msg', context.id), parts, status))
  for (const [count, { id, name, arguments: text }] of calls.entries())
    items.push(callItem({ id: itemId('fc', context.id, count), call: id, name, arguments: text, status }))
  return items
}

/** Whether a reply has reasoning that must find its way back, seen or unseen. */
export function hasReasoning(message: AssistantMessage): boolean {
  return message.reasoning !== undefined || message.extra?.['quintain.messages'] !== undefined
}

/** Whether the program asked to see reasoning; it is given a mark in any case. */
export function wantsSummary({ request }: ReplyContext): boolean {
  const { reasoning } = request.wire.body
  if (!isFields(reasoning)) return false
  return (reasoning['summary'] ?? reasoning['generate_summary'] ?? undefined) !== undefined
}

export function reasoningItem(id: string, text: string, context: ReplyContext): Item {
  const shown = text !== '' && wantsSummary(context)
  return {
    id,
    type: 'reasoning',
    summary: shown ? [{ type: 'summary_text', text }] : [],
    encrypted_content: markOf(context.id),
  }
}

export function textPart(text: string): Item {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function messageItem(id: string, content: readonly Item[], status: string): Item {
  return { id, type: 'message', status, role: 'assistant', content }
}

export function callItem(call: {
  id: string
  call: string
  name: string
  arguments: string
  status: string
}): Item {
  const { id, name, status } = call
  return { id, type: 'function_call', status, call_id: call.call, name, arguments: call.arguments }
}

/** The body of a response that is over. */
export function finishedBody(output: readonly Item[], response: ModelResponse, context: ReplyContext): Item {
  const { finish, message, usage } = response
  const filtered = finish === 'content_filter' || (finish === 'refusal' && message.refusal === undefined)
  const reason = finish === 'length' ? 'max_output_tokens' : filtered ? 'content_filter' : undefined
  return {
    ...responseBody(context, response.model),
    status: reason === undefined ? 'completed' : 'incomplete',
    completed_at: reason === undefined ? context.created : null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: {
      input_tokens: usage === undefined ? 0 : inputTokens(usage),
      input_tokens_details: {
        cached_tokens: usage?.cacheRead ?? 0,
        cache_write_tokens: usage?.cacheWrite ?? 0,
      },
      output_tokens: usage?.output ?? 0,
      output_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 },
      total_tokens: usage === undefined ? 0 : inputTokens(usage) + usage.output,
    },
  }
}

/** The body of a response that has begun. What the program asked for is said again, as the provider says it. */
export function responseBody(context: ReplyContext, model?: string): Item {
  const { body } = context.request.wire
  const reasoning = isFields(body['reasoning']) ? body['reasoning'] : {}
  return {
    id: context.id,
    object: 'response',
    created_at: context.created,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: model ?? context.model,
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? null,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? null,
    truncation: body['truncation'] ?? 'disabled',
    usage: null,
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
  }
}

/** A provider's own body, as it would be had the program asked it itself. */
export function shownBody(given: Readonly<Item>, context: ReplyContext): Item {
  const { body, wants } = context.request.wire
  const { output } = given
  return {
    ...given,
    store: body['store'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    ...(Array.isArray(output) && !wants.logprobs ? { output: output.map(withoutLogprobs) } : {}),
  }
}

/** An item, or a part of one, without log-probabilities that the program did not ask for. */
export function withoutLogprobs(given: unknown): unknown {
  if (!isFields(given)) return given
  const { content, logprobs } = given
  return {
    ...given,
    ...(Array.isArray(logprobs) ? { logprobs: [] } : {}),
    ...(Array.isArray(content) ? { content: content.map(withoutLogprobs) } : {}),
  }
}
