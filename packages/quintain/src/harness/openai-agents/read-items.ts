import { type AssistantMessage, type Content, type Message, textOf } from '../../core/index.ts'
import type { Echoes } from '../echoes.ts'
import type { AgentsItem } from './types.ts'

type Part = Exclude<Content, string>[number]

/**
 * The messages of a conversation of the Agents SDK. Reasoning, text and calls of one reply are items of their own there
 * and one message here. Throws a `TypeError` for items that no chat model knows.
 */
export function readItems(input: string | readonly AgentsItem[], echoes: Echoes): Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const messages: Message[] = []
  let reply: AssistantMessage | undefined
  const endReply = () => {
    if (reply !== undefined) messages.push(echoes.find(reply))
    reply = undefined
  }
  const open = (): AssistantMessage => {
    reply ??= { role: 'assistant', content: '' }
    return reply
  }
  for (const item of input) {
    switch (item.type ?? 'message') {
      case 'message':
        if (item.role === 'assistant') {
          if (reply !== undefined && reply.content !== '') endReply()
          readReply(item, open())
        } else {
          endReply()
          const role = item.role === 'system' ? 'system' : 'user'
          messages.push({ role, content: contentOf(item.content) })
        }
        break
      case 'reasoning': {
        endReply()
        const text = reasoningOf(item)
        if (text !== '') open().reasoning = text
        break
      }
      case 'function_call': {
        const call = { id: textIn(item.callId), name: textIn(item.name), arguments: textIn(item.arguments) }
        const message = open()
        message.toolCalls = [...(message.toolCalls ?? []), call]
        break
      }
      case 'function_call_result':
        endReply()
        messages.push({
          role: 'tool',
          toolCallId: textIn(item.callId),
          ...(typeof item.name === 'string' ? { name: item.name } : {}),
          content: contentOf(item.output),
        })
        break
      default:
        throw new TypeError(
          `the model of this rollout takes messages and function calls, and the input holds an item of type ${item.type}`,
        )
    }
  }
  endReply()
  return messages
}

function readReply({ content }: AgentsItem, message: AssistantMessage): void {
  if (typeof content === 'string') {
    message.content = content
    return
  }
  for (const part of parts(content)) {
    if (typeof part['refusal'] === 'string') message.refusal = part['refusal']
    else message.content = textOf(message.content) + String(part['text'] ?? '')
  }
}

function reasoningOf({ rawContent, content }: AgentsItem): string {
  const raw = parts(rawContent)
  return (raw.length > 0 ? raw : parts(content)).map(({ text }) => String(text ?? '')).join('')
}

function contentOf(content: unknown): Content {
  if (typeof content === 'string') return content
  const read = (Array.isArray(content) ? parts(content) : parts([content])).map(partOf)
  return read.length === 1 && read[0]!.type === 'text' ? textOf(read) : read
}

function partOf(part: Record<string, unknown>): Part {
  const { type, text } = part
  if (typeof text === 'string') return { type: 'text', text }
  const given = part['image'] ?? part['imageUrl']
  if ((type === 'input_image' || type === 'image') && given !== undefined) return imageOf(given)
  throw new TypeError(`the model of this rollout takes text and images, and the input holds ${String(type)}`)
}

function imageOf(given: unknown): Part {
  if (typeof given === 'string') {
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(given) ?? []
    return mediaType === undefined || data === undefined
      ? { type: 'image', mediaType: 'image/*', url: given }
      : { type: 'image', mediaType, data }
  }
  const { url, data, mediaType } = Object(given) as Record<string, unknown>
  if (typeof url === 'string') return imageOf(url)
  if (typeof data === 'string' || data instanceof Uint8Array)
    return {
      type: 'image',
      mediaType: typeof mediaType === 'string' ? mediaType : 'image/png',
      data: typeof data === 'string' ? data : Buffer.from(data).toString('base64'),
    }
  throw new TypeError('the model of this rollout takes images by address or by bytes, and not by a file id')
}

function parts(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? content.map((part) => Object(part) as Record<string, unknown>) : []
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
