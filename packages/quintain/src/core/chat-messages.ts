import type { AssistantMessage, Content, ImagePart, Message, TextPart, ToolCall } from './message.ts'

/** Messages in our form, and what was odd about them and kept all the same. */
export interface ReadMessages {
  messages: Message[]
  notes: string[]
}

type Loose = Record<string, unknown>

/** True for an object that is no list. */
export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const knownOfAssistant = new Set([
  'role',
  'content',
  'tool_calls',
  'function_call',
  'reasoning',
  'reasoning_content',
  'refusal',
])

/**
 * Messages as OpenAI's chat API has them, in our form. What has no place in it is kept as near as can be and told in
 * `notes`: a picture behind an address becomes its address, a part of an unknown type its JSON, arguments that came as an
 * object their JSON; calls and results that lack an id are paired in order.
 *
 * Gives a text that says which message is none, for a list that cannot be read.
 *
 * Source: OpenAI API reference, chat completions, request messages; `function_call` and role `function` are its older
 * form, `developer` its newer word for `system`, `reasoning_content` that of DeepSeek and vLLM.
 */
export function readChatMessages(list: unknown): ReadMessages | string {
  if (!Array.isArray(list)) return 'it has no list of messages'
  const messages: Message[] = []
  const notes: string[] = []
  /** Calls that no result has answered yet, in order. */
  const open: ToolCall[] = []
  for (const [index, raw] of (list as unknown[]).entries()) {
    const where = `message ${index + 1}`
    if (!isObject(raw)) return `${where} is no object`
    const { role } = raw
    const note = (text: string) => {
      notes.push(`${where}: ${text}`)
    }
    if (role === 'system' || role === 'developer')
      messages.push({ role: 'system', content: contentOf(raw['content'], note) })
    else if (role === 'user') {
      const name = raw['name']
      const content = contentOf(raw['content'], note)
      messages.push({ role, content, ...(typeof name === 'string' ? { name } : {}) })
    } else if (role === 'assistant') {
      const message = assistantOf(raw, note, `call_${index + 1}`)
      if (typeof message === 'string') return `${where}${message}`
      if (open.length > 0) note(`${calls(open.splice(0))} before it had no result`)
      open.push(...(message.toolCalls ?? []))
      messages.push(message)
    } else if (role === 'tool' || role === 'function') messages.push(resultOf(raw, open, note))
    else return `${where} has the role ${JSON.stringify(role) ?? 'undefined'}`
  }
  // What the last message asked for may have been cut off with the recording.
  if (open.length > 0) notes.push(`the end: ${calls(open)} had no result`)
  return { messages, notes }
}

function calls(open: readonly ToolCall[]): string {
  return open.length === 1 ? `the call of ${open[0]!.name}` : `${open.length} calls`
}

function contentOf(content: unknown, note: (text: string) => void): Content {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) {
    note('its content is no text and is kept as its JSON')
    return JSON.stringify(content)
  }
  const parts = (content as unknown[]).map((part) => partOf(part, note))
  // One text in a list is a text.
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : parts
}

function partOf(part: unknown, note: (text: string) => void): TextPart | ImagePart {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (isObject(part)) {
    const { type, text } = part
    if (typeof text === 'string' && (type === undefined || /text$/.test(String(type))))
      return { type: 'text', text }
    if (type === 'refusal' && typeof part['refusal'] === 'string')
      return { type: 'text', text: part['refusal'] }
    if (type === 'image_url' || type === 'input_image') {
      const held = part['image_url']
      const url = isObject(held) ? held['url'] : held
      if (typeof url === 'string') return imageOf(url, note)
    }
    note(`a part of type ${JSON.stringify(type) ?? 'undefined'} is kept as its JSON`)
  }
  return { type: 'text', text: JSON.stringify(part) }
}

function imageOf(url: string, note: (text: string) => void): TextPart | ImagePart {
  const [, mediaType, data] = /^data:([^;,]+);base64,([\s\S]*)$/.exec(url) ?? []
  if (mediaType !== undefined && data !== undefined) return { type: 'image', mediaType, data }
  note('a picture behind an address is kept as the address, which may no longer lead to it')
  return { type: 'text', text: `[image: ${url}]` }
}

function assistantOf(raw: Loose, note: (text: string) => void, idOfCall: string): AssistantMessage | string {
  const message: AssistantMessage = { role: 'assistant', content: contentOf(raw['content'], note) }
  const reasoning = raw['reasoning_content'] ?? raw['reasoning']
  if (typeof reasoning === 'string' && reasoning !== '') message.reasoning = reasoning
  if (typeof raw['refusal'] === 'string') message.refusal = raw['refusal']
  const given = raw['tool_calls'] ?? (raw['function_call'] == null ? [] : [raw['function_call']])
  if (given !== null && !Array.isArray(given)) return ': its tool_calls are no list'
  const toolCalls: ToolCall[] = []
  for (const [index, call] of ((given ?? []) as unknown[]).entries()) {
    const read = callOf(call, `${idOfCall}_${index + 1}`, note)
    if (read === undefined) return `: tool call ${index + 1} names no function`
    toolCalls.push(read)
  }
  if (toolCalls.length > 0) message.toolCalls = toolCalls
  const extra = Object.entries(raw).filter(
    ([key, value]) => !knownOfAssistant.has(key) && value !== null && value !== undefined,
  )
  if (extra.length > 0) message.extra = Object.fromEntries(extra)
  return message
}

function callOf(call: unknown, id: string, note: (text: string) => void): ToolCall | undefined {
  if (!isObject(call)) return undefined
  const inner = isObject(call['function']) ? call['function'] : call
  const { name } = inner
  if (typeof name !== 'string' || name === '') return undefined
  const given = inner['arguments'] ?? inner['args'] ?? inner['input']
  if (given !== undefined && given !== null && typeof given !== 'string')
    note(`the arguments of ${name} came as a value and are kept as its JSON`)
  const text = typeof given === 'string' ? given : given == null ? '' : JSON.stringify(given)
  const own = call['id']
  const known = typeof own === 'string' && own !== '' ? own : typeof own === 'number' ? String(own) : id
  return { id: known, name, arguments: text }
}

function resultOf(raw: Loose, open: ToolCall[], note: (text: string) => void): Message {
  const own = raw['tool_call_id']
  const id = typeof own === 'string' ? own : typeof own === 'number' ? String(own) : undefined
  const name = typeof raw['name'] === 'string' ? raw['name'] : undefined
  const at =
    id === undefined
      ? open.findIndex((call) => name === undefined || call.name === name)
      : open.findIndex((call) => call.id === id)
  const call = at < 0 ? undefined : open.splice(at, 1)[0]
  if (call === undefined) note('a tool result that answers no call')
  const known = name ?? call?.name
  return {
    role: 'tool',
    toolCallId: id ?? call?.id ?? '',
    ...(known === undefined ? {} : { name: known }),
    content: contentOf(raw['content'], note),
  }
}
