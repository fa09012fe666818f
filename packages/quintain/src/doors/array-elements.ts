/** An element of a JSON array as it stands in its file. */
export interface ArrayElement {
  /** Place in the array, from 0. */
  index: number
  /** The bytes of its text; undefined when it was too long to hold. */
  bytes: Buffer | undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const blanks = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20])

/**
 * Cuts the text of a JSON array into its elements, chunk by chunk, holding at most one of them: a recording of some
 * gigabytes is one array, and the longest string of a process is half of one. What is inside an element is not looked at;
 * whoever parses it says what is wrong with it, and the next one is read all the same.
 */
export class ArrayElements {
  readonly #mostBytes: number
  #pieces: Buffer[] = []
  #bytes = 0
  #depth = 0
  #inString = false
  #escaped = false
  #blank = true
  #index = 0
  #state: 'before' | 'inside' | 'after' = 'before'
  #trailing = false

  constructor(mostBytes = 256 * 1024 * 1024) {
    this.#mostBytes = mostBytes
  }

  *push(chunk: Buffer): Generator<ArrayElement, void, undefined> {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (this.#state !== 'inside') {
        if (this.#state === 'before' && byte === OPEN_BRACKET) {
          this.#state = 'inside'
          this.#depth = 1
          start = at + 1
        } else if (this.#state === 'after' && !blanks.has(byte)) this.#trailing = true
        continue
      }
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inString = false
        continue
      }
      if (byte === COMMA && this.#depth === 1) {
        yield this.#take(chunk.subarray(start, at))
        start = at + 1
        continue
      }
      if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
        this.#depth -= 1
        if (this.#depth === 0) {
          this.#state = 'after'
          // `[]` has no element, and neither has what follows a last comma.
          if (!this.#blank) yield this.#take(chunk.subarray(start, at))
          start = at + 1
          continue
        }
      } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) this.#depth += 1
      else if (byte === QUOTE) this.#inString = true
      else if (blanks.has(byte)) continue
      this.#blank = false
    }
    if (this.#state === 'inside') this.#hold(chunk.subarray(start))
  }

  /** What is wrong with the array as a whole, once all of it was pushed. */
  end(): 'no_array' | 'not_closed' | 'trailing_text' | undefined {
    if (this.#state === 'before') return 'no_array'
    if (this.#state === 'inside') return 'not_closed'
    return this.#trailing ? 'trailing_text' : undefined
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return
    this.#bytes += piece.length
    // Copied: the reader fills one buffer again and again.
    if (this.#bytes <= this.#mostBytes) this.#pieces.push(Buffer.from(piece))
    else this.#pieces = []
  }

  #take(piece: Buffer): ArrayElement {
    this.#hold(piece)
    const bytes = this.#bytes <= this.#mostBytes ? Buffer.concat(this.#pieces) : undefined
    this.#pieces = []
    this.#bytes = 0
    this.#blank = true
    return { index: this.#index++, bytes }
  }
}
