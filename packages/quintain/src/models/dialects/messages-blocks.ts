import type { AssistantMessage, Content, Message, ToolCall } from '../../core/message.ts'
import { sendableArguments } from '../request-body.ts'
import { unsupported } from './body-fields.ts'
import { imageMissing, partsOf } from './image-parts.ts'
import { keptItems, layOut } from './reply-layout.ts'

/** Key of `AssistantMessage.extra` that holds the layout of a reply that came in this dialect. */
export const messagesLayout = 'quintain.messages'

/** A block of content. */
export type Block = Record<string, unknown>

export interface Turn {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
}

/**
 * A conversation as an upstream of this dialect takes it: what the system says first apart, the results of one reply's
 * calls in one turn with what the user says after them, and nothing empty. Throws `DialectError` for what cannot be said.
 */
export function turnsOf(messages: readonly Message[]): { system: Block[]; turns: Turn[] } {
  const system: Block[] = []
  const turns: Turn[] = []
  for (const message of messages) {
    const blocks = blocksOf(message)
    if (blocks.length === 0) continue
    if (message.role === 'system' && turns.length === 0) {
      system.push(...blocks)
      continue
    }
    const role = message.role === 'tool' ? 'user' : message.role
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  return { system, turns }
}

function blocksOf(message: Message): Block[] {
  switch (message.role) {
    case 'system':
      return contentBlocks(message.content)
    case 'user':
      if (message.name !== undefined) throw unsupported(`A user's name ("${message.name}")`, 'name')
      return contentBlocks(message.content)
    case 'tool': {
      const content = contentBlocks(message.content)
      return [
        {
          type: 'tool_result',
          tool_use_id: sendableId(message.toolCallId),
          ...(content.length === 0 ? {} : { content }),
          ...(message.error === undefined ? {} : { is_error: true }),
        },
      ]
    }
    case 'assistant':
      return replyBlocks(message)
  }
}

/** The blocks of a reply; reasoning as it was signed, or not at all, since only its own provider can read it. */
function replyBlocks(message: AssistantMessage): Block[] {
  const blocks = layOut(keptItems(message, messagesLayout), message).flatMap((piece): Block[] => {
    if (piece.kind === 'whole') return [piece.item]
    if (piece.kind === 'call') return [callBlock(piece.call)]
    return saysNothing(piece.text) ? [] : [{ type: 'text', text: piece.text }]
  })
  if (message.refusal !== undefined && !saysNothing(message.refusal))
    blocks.push({ type: 'text', text: message.refusal })
  return blocks
}

/** The provider refuses text without a letter in it. */
function saysNothing(text: string): boolean {
  return text.trim() === ''
}

function callBlock(call: ToolCall): Block {
  return {
    type: 'tool_use',
    id: sendableId(call.id),
    name: call.name === '' ? 'unnamed' : call.name,
    input: JSON.parse(sendableArguments(call.arguments)),
  }
}

/** Ids of other providers may hold what this one does not take. */
function sendableId(id: string): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : `id_${Buffer.from(id).toString('base64url')}`
}

function contentBlocks(content: Content): Block[] {
  return partsOf(content).flatMap((part): Block[] => {
    if (part.type === 'text') return saysNothing(part.text) ? [] : [{ type: 'text', text: part.text }]
    // It always looks as closely as it can.
    if (part.detail !== undefined && part.detail !== 'high')
      throw unsupported(`An image with detail "${part.detail}"`, 'detail')
    if (part.data !== undefined)
      return [{ type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } }]
    if (part.url === undefined) throw imageMissing()
    return [{ type: 'image', source: { type: 'url', url: part.url } }]
  })
}
