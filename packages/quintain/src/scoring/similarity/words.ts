// What Python's `str.split()` splits at. JavaScript's `\s` has U+FEFF and lacks U+001C to U+001F and U+0085.
const spaces = /[\t-\r\u001c- \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u

// What RapidFuzz splits at in a text that Python keeps in one byte a letter, where U+0085 and U+00A0 are letters to it.
const narrowSpaces = /[\t-\r\u001c- ]+/u

/** Words of a text as Python's `str.split()` gives them. */
export function wordsOf(text: string): string[] {
  return splitAt(text, spaces)
}

/** Words of a text as RapidFuzz takes them. */
export function fuzzyWordsOf(text: string): string[] {
  return splitAt(text, /[^\u0000-\u00ff]/.test(text) ? spaces : narrowSpaces)
}

function splitAt(text: string, separator: RegExp): string[] {
  const words = text.split(separator)
  if (words[0] === '') words.shift()
  if (words.at(-1) === '') words.pop()
  return words
}

/** By code points, as Python compares; JavaScript compares UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  for (let at = 0; at < most; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left === right) continue
    const [first, second] = [isSurrogate(left), isSurrogate(right)]
    if (first !== second) return first ? 1 : -1
    return left - right
  }
  return a.length - b.length
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

/** How often each run of `n` words is in a list. */
export function countRuns(words: readonly number[] | Int32Array, n: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (let at = 0; at + n <= words.length; at++) {
    const run = words.slice(at, at + n).join(' ')
    counts.set(run, (counts.get(run) ?? 0) + 1)
  }
  return counts
}

/** Runs that both have, each as often as the one that has fewer. */
export function countShared(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0
  for (const [run, count] of a) shared += Math.min(count, b.get(run) ?? 0)
  return shared
}
