import type { Content, Message } from '../../core/index.ts'
import { howToSpeak } from '../session/how-to-speak.ts'
import type { Opening } from '../session/session.ts'

/** A block of MCP, as prompts of HUD are made of. */
type Block = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

interface PromptMessage {
  role: 'system' | 'user' | 'assistant'
  content: string | Block
}

/**
 * The prompt as `tasks.start` gives it: a text where there is nothing but one user message, else messages with one block
 * each, which is what clients of every version read. Clients show a system message as a user message.
 */
export function promptOf(opening: Opening): string | PromptMessage[] {
  const messages = withHint(opening.messages, howToSpeak(opening))
  const [only] = messages
  if (messages.length === 1 && only?.role === 'user' && typeof only.content === 'string') return only.content
  return messages.flatMap((message) => {
    const role = message.role === 'tool' ? 'user' : message.role
    return blocksOf(message.content).map((content) => ({ role, content }))
  })
}

/** What an agent must know of a tool stands with the system message, where there is one. */
function withHint(messages: readonly Message[], hint: string | undefined): readonly Message[] {
  if (hint === undefined) return messages
  const [first, ...others] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: hint }, ...messages]
  const { content } = first
  const told: Content =
    typeof content === 'string' ? `${content}\n\n${hint}` : [...content, { type: 'text', text: hint }]
  return [{ role: 'system', content: told }, ...others]
}

function blocksOf(content: Content): (string | Block)[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  return content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.data !== undefined) return { type: 'image', data: part.data, mimeType: part.mediaType }
    return part.url === undefined ? '[an image that is not at hand]' : `[an image: ${part.url}]`
  })
}
