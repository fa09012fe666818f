import { jsonLine } from './jsonl.ts'

/** Texts up to this length are kept whatever is left. */
const shortText = 4_000
/** Characters that are kept of each end of a text that is cut. */
const endLength = 1_000
/** A character takes at most so many bytes in JSON, as `\u0000` does. */
const mostBytes = 6
/** What a value takes beside its texts, roughly. */
const otherBytes = 16
const pieceLength = 2 ** 20

/**
 * Keeps a record so small that it can be written and read again: once the bytes that it may take are used up, long texts
 * are kept by their beginning and their end.
 */
export class RecordBudget {
  /** Whether anything was cut. */
  cut = false
  private left: number

  constructor(bytes: number) {
    this.left = bytes
  }

  /** Whether a value is so small that nothing of it has to be looked at closer. */
  holds(value: unknown): boolean {
    let left = this.left
    const stack = [value]
    // Every attempt is looked at, and hardly any is large: without a list of each object's entries.
    while (stack.length > 0 && left >= 0) {
      const next = stack.pop()
      left -= otherBytes
      if (typeof next === 'string') left -= next.length * mostBytes
      else if (Array.isArray(next)) for (const inner of next) stack.push(inner)
      else if (isRecord(next)) {
        for (const name in next) {
          left -= name.length * mostBytes
          stack.push(next[name])
        }
      }
    }
    return left >= 0
  }

  /** A plain value with what fits; itself where that is all. */
  take<T>(value: T): T {
    // The same structure with other texts in it.
    return this.fitted(value) as T
  }

  private fitted(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    this.left -= otherBytes
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const kept = entries.map(([name, inner]): [string, unknown] => {
      this.left -= name.length
      return [name, this.fitted(inner)]
    })
    if (kept.every(([, inner], at) => inner === entries[at]![1])) return value
    return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept)
  }

  private text(text: string): string {
    const bytes = bytesInJson(text, this.left)
    if (bytes <= this.left || text.length <= shortText) {
      this.left -= bytes
      return text
    }
    this.cut = true
    const leftOut = text.length - 2 * endLength
    const ends = `${text.slice(0, endLength)}\n[... ${leftOut} characters left out of the record ...]\n${text.slice(-endLength)}`
    this.left -= bytesInJson(ends, this.left)
    return ends
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Bytes of a text in a line of JSON; above `most` only that it is more. */
function bytesInJson(text: string, most: number): number {
  if (text.length > most) return text.length
  let bytes = 0
  for (let at = 0; at < text.length && bytes <= most; at += pieceLength)
    bytes += Buffer.byteLength(jsonLine(text.slice(at, at + pieceLength)))
  return bytes
}
