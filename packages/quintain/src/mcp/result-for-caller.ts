import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Content } from '../core/message.ts'

/** What a world's tool said, as content blocks of MCP. Neither a reward nor the end of the episode is in them. */
export function resultForCaller(content: Content, options: { isError?: boolean } = {}): CallToolResult {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return {
    content: parts.map((part) => {
      if (part.type === 'text') return { type: 'text', text: part.text }
      // An image of a record, whose bytes are elsewhere.
      if (part.data === undefined) return { type: 'text', text: '[an image that is not at hand]' }
      return { type: 'image', data: part.data, mimeType: part.mediaType }
    }),
    ...(options.isError === true ? { isError: true } : {}),
  }
}
