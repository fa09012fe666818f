import { type AssistantMessage, textOf } from '../../core/message.ts'
import type { ModelResponse } from '../../core/model.ts'
import type { RawCompletion, RawMessage } from '../completion.ts'
import { sendableArguments } from '../request-body.ts'
import { isFields } from './body-fields.ts'
import type { ReplyContext } from './dialect.ts'
import { type Block, messagesLayout } from './messages-blocks.ts'
import type { KeptItem } from './reply-layout.ts'
import { markOf } from './reply-mark.ts'

/** The reply in a body, in the shape of a chat completion; undefined when it holds none. */
export function readMessagesReply(body: RawMessage): RawCompletion | undefined {
  const { content, usage } = body
  if (!Array.isArray(content) || body['type'] === 'error') return undefined
  const completion: RawCompletion = { message: readBlocks(content.filter(isFields), body['stop_details']) }
  const reason = body['stop_reason']
  if (typeof reason === 'string') completion.finish = reason
  if (typeof body['id'] === 'string') completion.id = body['id']
  if (typeof body['model'] === 'string') completion.model = body['model']
  if (isFields(usage)) completion.usage = withReasoning(usage)
  return completion
}

/** Tokens of thinking under the name that other providers have for them. */
function withReasoning(usage: Readonly<Record<string, unknown>>): unknown {
  const details = usage['output_tokens_details']
  if (!isFields(details)) return usage
  const { thinking_tokens: reasoning_tokens, ...others } = details
  return { ...usage, output_tokens_details: { ...others, reasoning_tokens } }
}

function readBlocks(blocks: readonly Block[], details: unknown): RawMessage {
  let text = ''
  const reasoning: string[] = []
  const calls: RawMessage[] = []
  const kept: KeptItem[] = []
  for (const block of blocks) {
    if (block['type'] === 'text') {
      const said = typeof block['text'] === 'string' ? block['text'] : ''
      text += said
      kept.push({ kind: 'text', chars: said.length, item: {} })
    } else if (block['type'] === 'tool_use') {
      const { id, name, input } = block
      calls.push({
        id,
        function: { name, arguments: typeof input === 'string' ? input : textOfInput(input) },
      })
      kept.push({ kind: 'call', item: {} })
    } else {
      if (typeof block['thinking'] === 'string' && block['thinking'] !== '') reasoning.push(block['thinking'])
      kept.push({ kind: 'whole', item: block })
    }
  }
  const explanation = isFields(details) ? details['explanation'] : undefined
  return {
    role: 'assistant',
    content: text,
    ...(text === '' && typeof explanation === 'string' ? { refusal: explanation } : {}),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n\n') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(kept.some(({ kind }) => kind === 'whole') ? { [messagesLayout]: kept } : {}),
  }
}

/** Arguments of a streamed call are text already. */
function textOfInput(input: unknown): string {
  if (input === undefined || input === null || input === '') return '{}'
  return typeof input === 'string' ? input : JSON.stringify(input)
}

/** A reply as a program of this dialect reads it. */
export function writeMessagesReply(response: ModelResponse, context: ReplyContext): Record<string, unknown> {
  if (response.wire?.dialect === 'messages') return { ...response.wire.body }
  return {
    ...messageBody(context, response.model),
    content: writeBlocks(response, context),
    stop_reason: stopReason(response),
    usage: usageOf(response),
  }
}

/** The blocks of a reply that was sampled in another dialect. */
function writeBlocks({ message }: ModelResponse, context: ReplyContext): Block[] {
  const blocks: Block[] = []
  if (wantsThinking(context) && hasThinking(message))
    blocks.push(thinkingBlock(message.reasoning ?? '', context))
  const text = saidText(message)
  if (text !== '') blocks.push(textBlock(text))
  blocks.push(...callBlocks(message))
  // Programs read the first block without looking whether there is one.
  return blocks.length === 0 ? [textBlock('')] : blocks
}

/** Whether a reply has reasoning that must find its way back, seen or unseen. */
export function hasThinking(message: AssistantMessage): boolean {
  return message.reasoning !== undefined || message.extra?.['quintain.responses'] !== undefined
}

/** Whether the program asked the model to think; only then does it know what to do with a block of thinking. */
export function wantsThinking({ request }: ReplyContext): boolean {
  const { thinking } = request.wire.body
  return isFields(thinking) && thinking['type'] !== 'disabled'
}

export function thinkingBlock(thinking: string, context: ReplyContext): Block {
  return { type: 'thinking', thinking, signature: markOf(context.id) }
}

export function textBlock(text: string): Block {
  return { type: 'text', text, citations: null }
}

/** The dialect has no word for a refusal's text: it is text like any other. */
export function saidText(message: AssistantMessage): string {
  return textOf(message.content) + (message.refusal ?? '')
}

/** Calls with parsed arguments. Those that are no JSON object are replaced by one that says so. */
export function callBlocks(message: AssistantMessage): Block[] {
  return (message.toolCalls ?? []).map(({ id, name, arguments: text }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(sendableArguments(text)),
    caller: { type: 'direct' },
  }))
}

/** The body of a message that has begun. */
export function messageBody(context: ReplyContext, model?: string): Record<string, unknown> {
  return {
    id: context.id,
    type: 'message',
    role: 'assistant',
    model: model ?? context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: usageOf({}),
  }
}

export function stopReason({ finish, message }: ModelResponse): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'refusal' || finish === 'content_filter') return 'refusal'
  return message.toolCalls === undefined ? 'end_turn' : 'tool_use'
}

export function usageOf({ usage }: Pick<ModelResponse, 'usage'>): Record<string, unknown> {
  return {
    input_tokens: usage?.fresh ?? 0,
    cache_creation_input_tokens: usage?.cacheWrite ?? 0,
    cache_read_input_tokens: usage?.cacheRead ?? 0,
    output_tokens: usage?.output ?? 0,
    output_tokens_details: usage?.reasoning === undefined ? null : { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: 'standard',
  }
}

/** Ids by which a program may name a reply later. */
export function messagesReplyIds(response: ModelResponse, context: ReplyContext): string[] {
  const { message, responseId } = response
  const calls = (message.toolCalls ?? []).map(({ id }) => id)
  return [...calls, ...(responseId === undefined ? [] : [responseId]), context.id]
}
