import type { AssistantMessage, Content, ImagePart, Message, TextPart, ToolCall } from '../../core/message.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  optional,
  optionalList,
  optionalText,
  requiredText,
  unsupported,
  wrong,
} from './body-fields.ts'
import { contentOf, imageAt, imageUrlWords, isImageUrl, withDetail } from './image-parts.ts'
import { asSampled, type History, recordedReply } from './recorded-reply.ts'
import type { KeptItem } from './reply-layout.ts'
import { markedReply } from './reply-mark.ts'
import { type Item, responsesLayout } from './responses-items.ts'

/** An assistant's turn while its items are read. */
interface Draft {
  role: 'draft'
  text: string
  refusal: string
  reasoning: string[]
  calls: ToolCall[]
  kept: KeptItem[]
  /** The recorded reply that the items belong to, where it is known. */
  from: AssistantMessage | undefined
  /** Its reasoning was sent back: what was recorded takes its place. */
  marked: boolean
}

/**
 * The messages that items of `input` say. Items of one reply (reasoning, text, calls) are one message; its reasoning is
 * what was recorded where the program was only given a mark.
 */
export function readInput(items: readonly unknown[], history: History): Message[] {
  const turns: (Draft | Message)[] = []

  /** The turn that an item of an assistant belongs to. */
  function draftFor(item: Fields): Draft {
    const from = replyOf(item, history)
    const last = turns.at(-1)
    if (last?.role === 'draft' && (from === undefined || last.from === undefined || last.from === from)) {
      last.from ??= from
      return last
    }
    // Some programs send each call with its result; calls of one reply are one message all the same.
    const earlier = turns.findLast((turn) => turn.role === 'draft')
    if (from !== undefined && last?.role === 'tool' && earlier?.from === from) return earlier
    const draft: Draft = {
      role: 'draft',
      text: '',
      refusal: '',
      reasoning: [],
      calls: [],
      kept: [],
      from,
      marked: false,
    }
    turns.push(draft)
    return draft
  }

  for (const [index, value] of items.entries()) {
    const at = `input[${index}]`
    const item = fieldsOf(value, at)
    const type = optionalText(item, 'type', `${at}.`) ?? 'message'
    switch (type) {
      case 'message': {
        const role = requiredText(item, 'role', `${at}.`)
        if (role === 'assistant') addSaid(draftFor(item), item, at)
        else if (role === 'user') turns.push({ role, content: readContent(item, at) })
        else if (role === 'system' || role === 'developer')
          turns.push({ role: 'system', content: readContent(item, at) })
        else throw wrong(`${at}.role`, "one of 'user', 'assistant', 'system' and 'developer'")
        break
      }
      case 'reasoning':
        addReasoning(draftFor(item), item, at)
        break
      case 'function_call':
        addCall(draftFor(item), item, at, history)
        break
      case 'function_call_output': {
        const toolCallId = requiredText(item, 'call_id', `${at}.`)
        const output = optional(item, 'output')
        const content = typeof output === 'string' ? output : readParts(output, `${at}.output`)
        turns.push({ role: 'tool', toolCallId, content })
        break
      }
      default:
        throw unsupported(`An input item of type '${type}'`, `${at}.type`)
    }
  }
  return turns.map((turn) => (turn.role === 'draft' ? messageOf(turn) : turn))
}

function replyOf(item: Fields, history: History): AssistantMessage | undefined {
  return recordedReply(item['id'], history) ?? recordedReply(markedReply(item['encrypted_content']), history)
}

function addSaid(draft: Draft, item: Fields, at: string): void {
  const content = optional(item, 'content')
  const before = draft.text.length
  if (typeof content === 'string') draft.text += content
  else {
    for (const [index, value] of listOf(content, `${at}.content`).entries()) {
      const where = `${at}.content[${index}]`
      const part = fieldsOf(value, where)
      const type = requiredText(part, 'type', `${where}.`)
      if (type === 'refusal') draft.refusal += requiredText(part, 'refusal', `${where}.`)
      else if (type === 'output_text' || type === 'text' || type === 'input_text')
        draft.text += requiredText(part, 'text', `${where}.`)
      else throw unsupported(`Content of type '${type}' in an assistant's message`, `${where}.type`)
    }
  }
  const { id, phase } = item
  draft.kept.push({ kind: 'text', chars: draft.text.length - before, item: defined({ id, phase }) })
}

function addReasoning(draft: Draft, item: Fields, at: string): void {
  if (draft.from !== undefined) draft.marked = true
  const text = reasoningText(item, `${at}.`)
  if (text !== '') draft.reasoning.push(text)
  draft.kept.push({ kind: 'whole', item })
}

function addCall(draft: Draft, item: Fields, at: string, history: History): void {
  if (optionalText(item, 'namespace', `${at}.`) !== undefined)
    throw unsupported('A call of a tool in a namespace', `${at}.namespace`)
  const call = {
    id: requiredText(item, 'call_id', `${at}.`),
    name: requiredText(item, 'name', `${at}.`),
    arguments: requiredText(item, 'arguments', `${at}.`),
  }
  draft.calls.push(asSampled(call, history))
  const { id } = item
  draft.kept.push({ kind: 'call', item: defined({ id }) })
}

/** The reasoning that an item shows: its own words, or a summary of them. */
export function reasoningText(item: Fields, at = ''): string {
  const words = texts(optionalList(item, 'content', at), 'reasoning_text')
  return words !== '' ? words : texts(optionalList(item, 'summary', at), 'summary_text')
}

function texts(parts: readonly unknown[] | undefined, type: string): string {
  const found: string[] = []
  for (const part of parts ?? []) {
    if (typeof part !== 'object' || part === null) continue
    const { type: kind, text } = part as Fields
    if (kind === type && typeof text === 'string' && text !== '') found.push(text)
  }
  return found.join('\n\n')
}

function messageOf(draft: Draft): AssistantMessage {
  const known = draft.marked ? draft.from : undefined
  const reasoning =
    known?.reasoning ?? (draft.reasoning.length > 0 ? draft.reasoning.join('\n\n') : undefined)
  const whole = draft.kept.some(({ kind }) => kind === 'whole') && !isMarked(draft)
  const extra = known?.extra ?? (whole ? { [responsesLayout]: draft.kept } : undefined)
  return {
    role: 'assistant',
    content: draft.text,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(draft.calls.length === 0 ? {} : { toolCalls: draft.calls }),
    ...(draft.refusal === '' ? {} : { refusal: draft.refusal }),
    ...(extra === undefined ? {} : { extra }),
  }
}

/** Whether a reasoning item holds a mark of ours, which no provider can read. */
function isMarked(draft: Draft): boolean {
  return draft.kept.some(
    ({ kind, item }) => kind === 'whole' && markedReply(item['encrypted_content']) !== undefined,
  )
}

function readContent(item: Fields, at: string): Content {
  const content = optional(item, 'content')
  return typeof content === 'string' ? content : readParts(content, `${at}.content`)
}

function readParts(value: unknown, at: string): Content {
  const parts: (TextPart | ImagePart)[] = []
  for (const [index, entry] of listOf(value, at).entries()) {
    const where = `${at}[${index}]`
    const part = fieldsOf(entry, where)
    const type = requiredText(part, 'type', `${where}.`)
    if (type === 'input_text' || type === 'text' || type === 'output_text')
      parts.push({ type: 'text', text: requiredText(part, 'text', `${where}.`) })
    else if (type === 'input_image') {
      const url = optionalText(part, 'image_url', `${where}.`)
      if (url === undefined) throw unsupported('An image by its file id', `${where}.file_id`)
      if (!isImageUrl(url)) throw wrong(`${where}.image_url`, imageUrlWords)
      parts.push(withDetail(imageAt(url), optionalText(part, 'detail', `${where}.`)))
    } else throw unsupported(`Content of type '${type}'`, `${where}.type`)
  }
  return contentOf(parts)
}

/** The fields that hold something. */
export function defined(fields: Item): Item {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}
