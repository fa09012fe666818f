import type { AssistantMessage, Content, ImagePart, Message, TextPart, ToolCall } from '../../core/message.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  optional,
  optionalFlag,
  requiredText,
  unsupported,
  wrong,
} from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { contentOf, imageAt, imageUrlWords, isImageUrl } from './image-parts.ts'
import { messagesLayout } from './messages-blocks.ts'
import { asSampled, type History, recordedReply } from './recorded-reply.ts'
import type { KeptItem } from './reply-layout.ts'
import { markedReply } from './reply-mark.ts'

/**
 * The messages that turns say. Results of calls become messages of their own, before what the user says in the same turn;
 * turns of the assistant that follow each other are one, as the provider has it.
 */
export function readTurns(turns: readonly unknown[], history: History): Message[] {
  const messages: Message[] = []
  /** Blocks of the assistant since somebody else spoke. */
  let said: Placed[] = []
  const flush = (): void => {
    if (said.length > 0) messages.push(readReply(said, history))
    said = []
  }
  for (const [index, value] of turns.entries()) {
    const at = `messages.${index}`
    const turn = fieldsOf(value, at)
    const role = requiredText(turn, 'role', `${at}.`)
    const blocks = blocksOf(turn, at)
    if (role === 'assistant') {
      said.push(...blocks)
      continue
    }
    flush()
    if (role === 'user') messages.push(...readUser(blocks))
    else if (role === 'system') messages.push({ role, content: readParts(blocks) })
    else throw wrong(`${at}.role`, "'user', 'assistant' or 'system'")
  }
  flush()
  return messages
}

/** A block and its place in the body. */
interface Placed {
  block: Fields
  at: string
}

/** The blocks of a field that is text or blocks. */
export function blocksOf(fields: Fields, at: string, key = 'content'): Placed[] {
  const value = optional(fields, key)
  const where = at === '' ? key : `${at}.${key}`
  if (typeof value === 'string') return [{ block: { type: 'text', text: value }, at: where }]
  return listOf(value, where).map((block, index) => ({
    block: fieldsOf(block, `${where}.${index}`),
    at: `${where}.${index}`,
  }))
}

/** Text and images in order. */
export function readParts(blocks: readonly Placed[]): Content {
  return contentOf(blocks.map(({ block, at }) => readPart(block, at)))
}

function readPart(block: Fields, at: string): TextPart | ImagePart {
  const type = requiredText(block, 'type', `${at}.`)
  if (type === 'text') return { type: 'text', text: requiredText(block, 'text', `${at}.`) }
  if (type !== 'image') throw unsupported(`A block of type '${type}'`, `${at}.type`)
  const source = fieldsOf(optional(block, 'source'), `${at}.source`)
  const kind = requiredText(source, 'type', `${at}.source.`)
  if (kind === 'url') {
    const url = requiredText(source, 'url', `${at}.source.`)
    if (!isImageUrl(url)) throw wrong(`${at}.source.url`, imageUrlWords)
    return imageAt(url)
  }
  if (kind !== 'base64') throw unsupported(`An image from a source of type '${kind}'`, `${at}.source.type`)
  return {
    type: 'image',
    mediaType: requiredText(source, 'media_type', `${at}.source.`),
    data: requiredText(source, 'data', `${at}.source.`),
  }
}

function readUser(blocks: readonly Placed[]): Message[] {
  const results: Message[] = []
  const parts: (TextPart | ImagePart)[] = []
  for (const { block, at } of blocks) {
    if (block['type'] !== 'tool_result') {
      parts.push(readPart(block, at))
      continue
    }
    results.push({
      role: 'tool',
      toolCallId: requiredText(block, 'tool_use_id', `${at}.`),
      content: optional(block, 'content') === undefined ? '' : readParts(blocksOf(block, at)),
      ...(optionalFlag(block, 'is_error', `${at}.`) === true ? { error: 'tool_error' } : {}),
    })
  }
  return parts.length === 0 && results.length > 0
    ? results
    : [...results, { role: 'user', content: contentOf(parts) }]
}

function readReply(blocks: readonly Placed[], history: History): AssistantMessage {
  let text = ''
  let recorded: AssistantMessage | undefined
  const reasoning: string[] = []
  const calls: ToolCall[] = []
  const kept: KeptItem[] = []
  for (const { block, at } of blocks) {
    const type = requiredText(block, 'type', `${at}.`)
    switch (type) {
      case 'text': {
        const said = requiredText(block, 'text', `${at}.`)
        text += said
        kept.push({ kind: 'text', chars: said.length, item: {} })
        break
      }
      case 'thinking': {
        const said = requiredText(block, 'thinking', `${at}.`)
        const marked = markedReply(optional(block, 'signature'))
        if (marked !== undefined) recorded ??= recordedReply(marked, history)
        else kept.push({ kind: 'whole', item: block })
        if (said !== '') reasoning.push(said)
        break
      }
      case 'redacted_thinking':
        kept.push({ kind: 'whole', item: block })
        break
      case 'tool_use':
        calls.push(asSampled(readCall(block, at), history))
        kept.push({ kind: 'call', item: {} })
        break
      default:
        throw unsupported(`A block of type '${type}'`, `${at}.type`)
    }
  }
  const said = recorded?.reasoning ?? (reasoning.length > 0 ? reasoning.join('\n\n') : undefined)
  const whole = kept.some(({ kind }) => kind === 'whole')
  const extra = recorded?.extra ?? (whole ? { [messagesLayout]: kept } : undefined)
  return {
    role: 'assistant',
    content: text,
    ...(said === undefined ? {} : { reasoning: said }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(extra === undefined ? {} : { extra }),
  }
}

function readCall(block: Fields, at: string): ToolCall {
  return {
    id: requiredText(block, 'id', `${at}.`),
    name: requiredText(block, 'name', `${at}.`),
    arguments: textOfInput(optional(block, 'input') ?? {}, `${at}.input`),
  }
}

function textOfInput(input: unknown, at: string): string {
  try {
    return JSON.stringify(input)
  } catch {
    throw new DialectError('invalid_request', `'${at}' nests too deep.`, at)
  }
}
