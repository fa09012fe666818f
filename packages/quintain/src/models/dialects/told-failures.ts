import type { Content, Message } from '../../core/message.ts'
import type { ModelRequest } from '../../core/model.ts'

const word = 'Error: '

/**
 * The messages of a request for a protocol in which only words say that a tool has failed. Where a program marked a result
 * so (`is_error`), its words begin with that; ours and those of programs that have no such mark say it already.
 */
export function toldFailures({ messages, wire }: ModelRequest): readonly Message[] {
  if (wire?.dialect !== 'messages') return messages
  return messages.map((message) =>
    message.role === 'tool' && message.error !== undefined
      ? { ...message, content: failed(message.content) }
      : message,
  )
}

function failed(content: Content): Content {
  if (typeof content !== 'string') return [{ type: 'text', text: word.trim() }, ...content]
  return /^\s*error\b/i.test(content) ? content : word + content
}
