/** Symbols of a text or a list as small numbers: equal symbols of both sides have equal numbers. */
export interface Symbols {
  a: Int32Array
  b: Int32Array
  /** How many numbers there are. */
  size: number
}

/** Numbers for the code points of two texts, or the words of two lists. A lone surrogate is a symbol of its own. */
export function symbolsOf(a: string | readonly string[], b: string | readonly string[]): Symbols {
  const numbers = new Map<string, number>()
  const numbered = (sequence: string | readonly string[]) => {
    const out = new Int32Array(sequence.length)
    let length = 0
    for (const symbol of sequence) {
      let number = numbers.get(symbol)
      if (number === undefined) {
        number = numbers.size
        numbers.set(symbol, number)
      }
      out[length++] = number
    }
    return out.subarray(0, length)
  }
  return { a: numbered(a), b: numbered(b), size: numbers.size }
}

/** Code points of a text. */
export function codePointLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at)
    if (code < 0xd800 || code > 0xdbff) continue
    const next = text.charCodeAt(at + 1)
    if (next < 0xdc00 || next > 0xdfff) continue
    length--
    at++
  }
  return length
}

/** Without what both begin and end with, which neither distance needs to look at. */
export function withoutCommonEnds({ a, b }: { a: Int32Array; b: Int32Array }): {
  a: Int32Array
  b: Int32Array
  common: number
} {
  const most = Math.min(a.length, b.length)
  let start = 0
  while (start < most && a[start] === b[start]) start++
  let end = 0
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return {
    a: a.subarray(start, a.length - end),
    b: b.subarray(start, b.length - end),
    common: start + end,
  }
}
