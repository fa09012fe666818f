import type { AssistantMessage, Content, Message } from '../../core/message.ts'
import { sendableArguments } from '../request-body.ts'
import { unsupported } from './body-fields.ts'
import { urlOf } from './image-parts.ts'
import { keptItems, layOut } from './reply-layout.ts'

/** Key of `AssistantMessage.extra` that holds the layout of a reply that came in this dialect. */
export const responsesLayout = 'quintain.responses'

/** An item of `input` or `output`. */
export type Item = Record<string, unknown>

/** A conversation as items of `input`, for an upstream. Throws `DialectError` for what items cannot say. */
export function itemsOf(messages: readonly Message[]): Item[] {
  const items: Item[] = []
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        items.push({ role: 'system', content: inputContent(message.content) })
        break
      case 'user':
        if (message.name !== undefined) throw unsupported(`A user's name ("${message.name}")`, 'name')
        items.push({ role: 'user', content: inputContent(message.content) })
        break
      case 'tool':
        items.push({
          type: 'function_call_output',
          call_id: message.toolCallId,
          output: inputContent(message.content),
        })
        break
      case 'assistant':
        items.push(...replyItems(message))
    }
  }
  return items
}

/** The items of a reply; those that came from this dialect as they came. */
export function replyItems(message: AssistantMessage): Item[] {
  const items: Item[] = []
  let said: { content: Item[] } | undefined
  for (const piece of layOut(keptItems(message, responsesLayout), message)) {
    if (piece.kind === 'whole') items.push(piece.item)
    else if (piece.kind === 'call') items.push({ ...piece.item, ...callItem(piece.call) })
    else {
      said = {
        content: piece.text === '' ? [] : [{ type: 'output_text', text: piece.text, annotations: [] }],
      }
      items.push({ ...piece.item, type: 'message', role: 'assistant', status: 'completed', ...said })
    }
  }
  if (message.refusal !== undefined) {
    const part = { type: 'refusal', refusal: message.refusal }
    if (said === undefined)
      items.push({ type: 'message', role: 'assistant', status: 'completed', content: [part] })
    else said.content.push(part)
  }
  return items.filter((item) => item['type'] !== 'message' || !isEmpty(item['content']))
}

function isEmpty(content: unknown): boolean {
  return Array.isArray(content) && content.length === 0
}

function callItem(call: { id: string; name: string; arguments: string }): Item {
  return {
    type: 'function_call',
    call_id: call.id,
    name: call.name === '' ? 'unnamed' : call.name,
    arguments: sendableArguments(call.arguments),
  }
}

function inputContent(content: Content): unknown {
  if (typeof content === 'string') return content
  return content.map((part) =>
    part.type === 'text'
      ? { type: 'input_text', text: part.text }
      : { type: 'input_image', image_url: urlOf(part), detail: part.detail ?? 'auto' },
  )
}
