import { isDeepStrictEqual } from 'node:util'
import type { AssistantMessage, Content, ImagePart, Message, TextPart } from '../../core/index.ts'
import { type RawMessage, readMessage } from '../completion.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  optionalFields,
  optionalList,
  optionalText,
  requiredText,
  unsupported,
  wrong,
} from './body-fields.ts'
import { contentOf, imageAt, withDetail } from './image-parts.ts'
import { asSampled, type History, recordedReply } from './recorded-reply.ts'

/**
 * The messages of a chat completion request in our shape. What a model said is read as replies are, so that the echo of a
 * reply equals what was recorded of it: text parts in one, reasoning apart, repeated ids of calls told apart in the same
 * way. Throws `DialectError`.
 */
export function readHistory(messages: readonly unknown[], find?: History): Message[] {
  if (messages.length === 0) throw wrong('messages', 'at least one message')
  const read: Message[] = []
  /** Ids of all calls so far, as they are told apart here. */
  const taken = new Set<string>()
  let last: Echo | undefined

  for (const [index, entry] of messages.entries()) {
    const param = `messages[${index}]`
    const message = fieldsOf(entry, param)
    const at = `${param}.`
    const role = requiredText(message, 'role', at)
    switch (role) {
      case 'system':
      case 'developer':
        read.push({ role: 'system', content: readContent(message['content'], `${at}content`) })
        break
      case 'user': {
        const name = optionalText(message, 'name', at)
        const content = readContent(message['content'], `${at}content`)
        read.push({ role: 'user', content, ...(name === undefined ? {} : { name }) })
        break
      }
      case 'assistant':
        last = readEcho(message, at, taken)
        read.push(find === undefined ? last.message : recalled(last, find))
        break
      case 'tool': {
        const given = requiredText(message, 'tool_call_id', at)
        const name = optionalText(message, 'name', at)
        read.push({
          role: 'tool',
          toolCallId: last?.ids.get(given) ?? given,
          ...(name === undefined ? {} : { name }),
          content: readContent(message['content'] ?? '', `${at}content`),
        })
        break
      }
      case 'function': {
        const name = requiredText(message, 'name', at)
        const call = last?.message.toolCalls?.[0]
        if (call?.name !== name) throw wrong(`${at}name`, 'the name of the function that was called before')
        const content = readContent(message['content'] ?? '', `${at}content`)
        read.push({ role: 'tool', toolCallId: call.id, name, content })
        break
      }
      default:
        throw wrong(`${at}role`, 'one of system, developer, user, assistant, tool and function')
    }
  }
  return read
}

/** What a program sends back of a reply. */
interface Echo {
  message: AssistantMessage
  /** Ids of its calls, from those that the program knows. */
  ids: ReadonlyMap<string, string>
}

function readEcho(message: Fields, at: string, taken: Set<string>): Echo {
  if (isFields(message['audio'])) throw unsupported('Audio', `${at}audio`)
  const calls = optionalList(message, 'tool_calls', at) ?? []
  const firstForm = optionalFields(message, 'function_call', at)
  const given = calls.map((raw, index) => {
    const param = `${at}tool_calls[${index}]`
    const call = fieldsOf(raw, param)
    if (call['type'] === 'custom') throw unsupported('A custom tool', `${param}.type`)
    checkFunction(fieldsOf(call['function'], `${param}.function`), `${param}.function.`)
    return requiredText(call, 'id', `${param}.`)
  })
  if (firstForm !== undefined) checkFunction(firstForm, `${at}function_call.`)

  const { text, refusal } = readSaid(message['content'], `${at}content`)
  // `parsed` is what OpenAI's own package makes of a text and keeps beside it.
  const { parsed: _parsed, ...rest } = message
  const raw: RawMessage = { ...rest, content: text }
  if (refusal !== '') raw['refusal'] = refusal
  const echo = readMessage(raw, { taken }).message
  const ids = new Map(given.map((id, index) => [id, echo.toolCalls?.[index]?.id ?? id]))
  return { message: echo, ids }
}

/**
 * The reply as it was recorded, for an echo that says the same: it holds what this protocol has no place for, such as the
 * signed reasoning without which another provider does not go on after a tool call.
 */
function recalled({ message }: Echo, find: History): AssistantMessage {
  const recorded = recordedReply(message.toolCalls?.[0]?.id, find)
  if (recorded === undefined || message.reasoning !== undefined) return message
  const calls = message.toolCalls?.map((call) => asSampled(call, find))
  return recorded.content === message.content && isDeepStrictEqual(recorded.toolCalls, calls)
    ? recorded
    : message
}

function checkFunction(call: Fields, at: string): void {
  requiredText(call, 'name', at)
  // Servers that send objects get them back; what is neither is nobody's.
  if (!isFields(call['arguments'])) optionalText(call, 'arguments', at)
}

/** Text and refusal of an assistant's message. */
function readSaid(value: unknown, param: string): { text: string; refusal: string } {
  if (value === undefined || value === null) return { text: '', refusal: '' }
  if (typeof value === 'string') return { text: value, refusal: '' }
  let text = ''
  let refusal = ''
  for (const [index, entry] of listOf(value, param).entries()) {
    const at = `${param}[${index}].`
    const part = fieldsOf(entry, `${param}[${index}]`)
    if (part['type'] === 'text') text += requiredText(part, 'text', at)
    else if (part['type'] === 'refusal') refusal += requiredText(part, 'refusal', at)
    else throw unsupported(`A part of type ${JSON.stringify(part['type'])}`, `${at}type`)
  }
  return { text, refusal }
}

function readContent(value: unknown, param: string): Content {
  if (typeof value === 'string') return value
  const parts = listOf(value, param).map((entry, index): TextPart | ImagePart => {
    const at = `${param}[${index}].`
    const part = fieldsOf(entry, `${param}[${index}]`)
    switch (part['type']) {
      case 'text':
        return { type: 'text', text: requiredText(part, 'text', at) }
      case 'image_url':
        return readImage(part['image_url'], `${at}image_url`)
      case 'input_audio':
        throw unsupported('Audio', `${at}type`)
      case 'file':
        throw unsupported('A file', `${at}type`)
      default:
        throw unsupported(`A part of type ${JSON.stringify(part['type'])}`, `${at}type`)
    }
  })
  return contentOf(parts)
}

function readImage(value: unknown, param: string): ImagePart {
  const fields = typeof value === 'string' ? { url: value } : fieldsOf(value, param)
  const url = requiredText(fields, 'url', `${param}.`)
  const image = withDetail(imageAt(url), optionalText(fields, 'detail', `${param}.`))
  if (image.data === undefined && !/^https?:/i.test(url))
    throw wrong(`${param}.url`, 'an http(s) address, or a data URL with base64')
  return image
}
