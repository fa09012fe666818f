import type { Content } from '../../core/index.ts'

/** A piece of a prompt or of a tool's result. Clients ask for `detail` by its name, so it is always there. */
export type Block =
  | { type: 'text'; text: string; detail: null }
  | { type: 'image'; data: string; mimeType: string; detail: null }

export function textBlock(text: string): Block {
  return { type: 'text', text, detail: null }
}

/** Content as blocks; none for an empty text. An image of which only the address is known is told by its address. */
export function blocksOf(content: Content): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content)]
  return content.map((part) => {
    if (part.type === 'text') return textBlock(part.text)
    if (part.data === undefined) return textBlock(`[image ${part.url ?? 'without data'}]`)
    return { type: 'image', data: part.data, mimeType: part.mediaType, detail: null }
  })
}
