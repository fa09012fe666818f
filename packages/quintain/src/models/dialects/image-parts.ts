import type { Content, ImagePart, TextPart } from '../../core/message.ts'
import { ModelFault } from '../../core/model.ts'

/** What the address of an image must be. */
export const imageUrlWords = 'an http(s) address, or a data URL with base64'

/** Whether an image can be had from an address. */
export function isImageUrl(url: string): boolean {
  return /^https?:/i.test(url) || imageAt(url).data !== undefined
}

/** An image from its address: bytes where it is a `data:` URL with base64 in it. */
export function imageAt(url: string): ImagePart {
  const data = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i.exec(url)
  if (data === null) return { type: 'image', mediaType: 'image/*', url }
  return { type: 'image', mediaType: data[1]!.toLowerCase(), data: url.slice(data[0].length) }
}

/** The same image, looked at as closely as a program says. */
export function withDetail(image: ImagePart, detail: string | undefined): ImagePart {
  return detail === undefined || detail === 'auto' ? image : { ...image, detail }
}

/** The address of an image; its bytes go into a `data:` URL. */
export function urlOf(image: ImagePart): string {
  if (image.data !== undefined) return `data:${image.mediaType};base64,${image.data}`
  if (image.url !== undefined) return image.url
  throw imageMissing()
}

/** Throws the fault for an image of the records that nobody has loaded. */
export function imageMissing(): ModelFault {
  const message = 'An image of the conversation has no bytes to send; load it from the run first.'
  return new ModelFault({
    owner: 'platform',
    stage: 'model',
    code: 'image_missing',
    message,
    retryable: false,
  })
}

/** Parts as content: text alone is a string, so that one message is the same in every protocol. */
export function contentOf(parts: readonly (TextPart | ImagePart)[]): Content {
  if (parts.length === 0) return ''
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : [...parts]
}

/** Content as parts, without empty text. */
export function partsOf(content: Content): (TextPart | ImagePart)[] {
  if (typeof content !== 'string') return content.filter((part) => part.type !== 'text' || part.text !== '')
  return content === '' ? [] : [{ type: 'text', text: content }]
}
