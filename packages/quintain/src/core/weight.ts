/** Bytes that an object, a list or a number takes beside its texts, roughly. */
const valueBytes = 64

/** About how many bytes a plain value takes in memory: a text a byte for each character, or two where one is not ASCII. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return textBytes(value)
  let bytes = valueBytes
  if (typeof value !== 'object' || value === null) return bytes
  if (ArrayBuffer.isView(value)) return bytes + value.byteLength
  if (Array.isArray(value)) {
    for (const inner of value) bytes += weightOf(inner)
    return bytes
  }
  for (const [name, inner] of Object.entries(value)) bytes += name.length + weightOf(inner)
  return bytes
}

function textBytes(text: string): number {
  return text.length === Buffer.byteLength(text) ? text.length : 2 * text.length
}
