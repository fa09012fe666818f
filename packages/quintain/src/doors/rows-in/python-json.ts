const QUOTE = 0x22
const BACKSLASH = 0x5c
const words = ['NaN', 'Infinity', '-Infinity']

/**
 * The text with `null` in the place of what Python writes for numbers that are none (`NaN`, `Infinity`, `-Infinity`), as
 * JSON has no word for them; strings are left as they are. One pass, whatever the text.
 */
export function withoutNaN(text: string): string {
  const parts: string[] = []
  let from = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
      continue
    }
    if (code === QUOTE) {
      inString = true
      continue
    }
    const word = words.find((one) => text.startsWith(one, at))
    if (word === undefined) continue
    parts.push(text.slice(from, at), 'null')
    at += word.length - 1
    from = at + 1
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}
