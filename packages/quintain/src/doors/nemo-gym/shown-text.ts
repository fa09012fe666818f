import type { Content } from '../../core/index.ts'

/** A tool's output is text here; what cannot be shown is named, so that the model knows that there was something. */
export function shownText(content: Content): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : '[an image, not shown here]')).join('')
}
