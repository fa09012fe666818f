import { type Content, type Message, type ToolSpec, textOf } from '../../core/index.ts'
import { howToSpeak } from '../session/how-to-speak.ts'
import type { ListedTask, Opening, Settled, Step } from '../session/session.ts'

/** What a client sees after a reset or a step. `reward` is a number once in an episode, where it ends. */
export interface Observed {
  observation: Record<string, unknown>
  reward: number | null
  done: boolean
}

/** A message as chat APIs spell it, pictures as addresses. */
interface ChatMessage {
  role: string
  content: string | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** The frame's data. `metadata` stands beside the observation too, where newer clients look for it. */
export function frameOf({ observation, reward, done }: Observed): Record<string, unknown> {
  return { observation, reward, done, metadata: observation['metadata'] ?? {} }
}

/**
 * How an episode begins. Clients for tools keep nothing of it but `metadata`, and take any observation with `tools` for a
 * list of them: hence the prompt in both places, and no tools.
 */
export function resetObservation(
  opening: Opening,
  { id, split, index }: ListedTask,
): Record<string, unknown> {
  const how = howToSpeak(opening)
  const prompt = promptOf(opening, how)
  const messages = opening.messages.map(chatMessage)
  if (how !== undefined) messages.push({ role: 'user', content: how })
  return { prompt, messages, metadata: { prompt, task_id: id, split, index } }
}

function promptOf({ messages }: Opening, how: string | undefined): string {
  // Who said what has to be told only where not all of it is said to the agent.
  const labelled = messages.some(({ role }) => role === 'assistant' || role === 'tool')
  const texts = messages.map((message) => {
    const said = plainText(message)
    return labelled && message.role !== 'system' ? `${labels[message.role]}: ${said}` : said
  })
  return [...texts, ...(how === undefined ? [] : [how])].filter((text) => text !== '').join('\n\n')
}

const labels = { user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

function plainText(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return [textOf(message.content), ...calls.map((call) => `[${call.name} ${call.arguments}]`)]
    .join('\n')
    .trim()
}

/** The answer to what the agent said. */
export function messageObservation({ content, error }: Step): Record<string, unknown> {
  const messages: ChatMessage[] = isEmpty(content) ? [] : [{ role: 'user', content: chatContent(content) }]
  const message = textOf(content)
  if (error === undefined) return { message, messages, metadata: {} }
  return { message, messages, error: { error_type: 'execution_error', message }, metadata: codeOf(error) }
}

/** A tool's result. Calls that could not be carried out are `error`; what a tool itself reports is its result. */
export function callObservation(name: string, step: Step): Record<string, unknown> {
  const { content, error } = step
  const type = error === undefined ? undefined : notCarriedOut.get(error)
  if (type !== undefined) {
    const refused = { error_type: type, message: textOf(content) }
    return { tool_name: name, result: null, error: refused, metadata: codeOf(error) }
  }
  return { tool_name: name, result: callResult(step), error: null, metadata: codeOf(error) }
}

/** As the reference server writes a result: clients take `data`, others the blocks. */
export function callResult({ content, error, done }: Step): Record<string, unknown> {
  return {
    content: blocksOf(content),
    structured_content: null,
    meta: done === undefined ? null : { done: true },
    data: textOf(content),
    is_error: error !== undefined,
  }
}

/** What the reference calls errors of calls rather than results of tools. */
export const notCarriedOut: ReadonlyMap<string, string> = new Map([
  ['unknown_tool', 'tool_not_found'],
  ['malformed', 'invalid_args'],
  ['truncated', 'invalid_args'],
  ['arguments_not_object', 'invalid_args'],
  ['arguments_invalid', 'invalid_args'],
  ['invalid_arguments', 'invalid_args'],
  ['timeout', 'timeout'],
  ['episode_over', 'execution_error'],
])

export function toolsObservation(tools: readonly ToolSpec[]): Record<string, unknown> {
  return { tools: tools.map(shownTool), metadata: {} }
}

export function shownTool({ name, description, parameters }: ToolSpec): Record<string, unknown> {
  return { name, description, input_schema: parameters }
}

/** What an episode came to, beside its reward; public all of it. */
export function verdictMetadata(settled: Extract<Settled, { kind: 'scored' }>): Record<string, unknown> {
  const { success, rewards, metrics, outcome, stop } = settled
  return { success, rewards, metrics, outcome, ...(stop === undefined ? {} : { stop }) }
}

function codeOf(error: string | undefined): Record<string, unknown> {
  return error === undefined ? {} : { error_code: error }
}

function isEmpty(content: Content): boolean {
  return content === '' || content.length === 0
}

function chatMessage(message: Message): ChatMessage {
  const content = chatContent(message.content)
  if (message.role === 'tool') return { role: 'tool', content, tool_call_id: message.toolCallId }
  if (message.role !== 'assistant' || message.toolCalls === undefined) return { role: message.role, content }
  const calls = message.toolCalls.map(({ id, name, arguments: given }) => {
    return { id, type: 'function' as const, function: { name, arguments: given } }
  })
  return { role: 'assistant', content, tool_calls: calls }
}

function chatContent(content: Content): ChatMessage['content'] {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    const url = part.data === undefined ? (part.url ?? '') : `data:${part.mediaType};base64,${part.data}`
    return { type: 'image_url', image_url: { url } }
  })
}

function blocksOf(content: Content): Record<string, unknown>[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    if (part.data === undefined) return { type: 'text', text: `[image ${part.url ?? 'without data'}]` }
    return { type: 'image', data: part.data, mimeType: part.mediaType }
  })
}
