const encoder = new TextEncoder()

/**
 * The longest beginning of a text that fits into `maxBytes` of UTF-8 and splits no character. Lone surrogates become
 * U+FFFD, so that what comes out is always valid UTF-8.
 */
export function cutText(text: string, maxBytes: number): { text: string; truncated: boolean; bytes: number } {
  const whole = text.toWellFormed()
  const bytes = Buffer.byteLength(whole)
  if (bytes <= maxBytes) return { text: whole, truncated: false, bytes }
  const { read } = encoder.encodeInto(whole, new Uint8Array(Math.max(0, Math.floor(maxBytes))))
  return { text: whole.slice(0, read), truncated: true, bytes }
}

/** As `cutText`, with a line at the end that tells the reader how much was left out; the line counts as well. */
export function cutWithMarker(
  text: string,
  maxBytes: number,
): { text: string; truncated: boolean; bytes: number } {
  const bytes = Buffer.byteLength(text.toWellFormed())
  if (bytes <= maxBytes) return cutText(text, maxBytes)
  const marker = (shown: number) => `\n[cut: the first ${shown} of ${bytes} bytes are shown]`
  const room = maxBytes - Buffer.byteLength(marker(maxBytes))
  if (room <= 0) return cutText(text, maxBytes)
  const start = cutText(text, room).text
  return { text: start + marker(Buffer.byteLength(start)), truncated: true, bytes }
}
