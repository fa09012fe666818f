import { isDeepStrictEqual } from 'node:util'
import { nestsTooDeep } from './json-depth.ts'
import { type AssistantMessage, type Content, type Message, type ToolCall, textOf } from './message.ts'

/**
 * Whether a message of a history that was sent is the one that is held. Cheap where they differ and where they are one
 * object: histories of many messages are compared at every call.
 *
 * Programs do not send back what a model said letter for letter: reasoning is left out, fields are dropped, arguments are
 * written anew. So what an assistant said is known by its text and its calls, and stays as it was first held.
 */
export function isSameMessage(held: Message, sent: Message): boolean {
  if (held === sent) return true
  switch (held.role) {
    case 'assistant':
      return sent.role === 'assistant' && isEcho(held, sent)
    case 'system':
      return sent.role === 'system' && isSameContent(held.content, sent.content)
    case 'user':
      return sent.role === 'user' && held.name === sent.name && isSameContent(held.content, sent.content)
    case 'tool':
      return (
        sent.role === 'tool' &&
        held.toolCallId === sent.toolCallId &&
        held.name === sent.name &&
        held.error === sent.error &&
        isSameContent(held.content, sent.content)
      )
  }
}

function isEcho(held: AssistantMessage, sent: AssistantMessage): boolean {
  return (
    (isSameContent(held.content, sent.content) || isSameText(held.content, sent.content)) &&
    isLeftOutOrSame(held.reasoning, sent.reasoning) &&
    isLeftOutOrSame(held.refusal, sent.refusal) &&
    areSameCalls(held.toolCalls, sent.toolCalls)
  )
}

function isLeftOutOrSame(held: string | undefined, sent: string | undefined): boolean {
  return sent === undefined || sent === '' || sent === held
}

/** However it was cut into parts. */
function isSameText(held: Content, sent: Content): boolean {
  return isText(held) && isText(sent) && textOf(held) === textOf(sent)
}

function isText(content: Content): boolean {
  return typeof content === 'string' || content.every(({ type }) => type === 'text')
}

/** A text and one part that holds it say the same; how several parts are joined is up to the server. */
function isSameContent(a: Content, b: Content): boolean {
  if (a === b) return true
  const [one, other] = [plainContent(a), plainContent(b)]
  return typeof one === 'string' || typeof other === 'string' ? one === other : isDeepStrictEqual(one, other)
}

function plainContent(content: Content): Content {
  if (typeof content === 'string') return content
  const parts = content.filter((part) => part.type !== 'text' || part.text !== '')
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts
}

function areSameCalls(held: readonly ToolCall[] = [], sent: readonly ToolCall[] = []): boolean {
  return (
    held.length === sent.length &&
    held.every((call, at) => {
      const other = sent[at]!
      return (
        call.id === other.id && call.name === other.name && areSameArguments(call.arguments, other.arguments)
      )
    })
  )
}

/** Whether two texts of arguments say the same, however they are written. */
export function areSameArguments(held: string, sent: string): boolean {
  if (held === sent) return true
  const [one, other] = [argumentsOf(held), argumentsOf(sent)]
  return one !== undefined && other !== undefined && isDeepStrictEqual(one.value, other.value)
}

/** Undefined for what is no JSON. No arguments at all are those of a tool that takes none. */
function argumentsOf(text: string): { value: unknown } | undefined {
  if (text.trim() === '') return { value: {} }
  if (nestsTooDeep(text)) return undefined
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
