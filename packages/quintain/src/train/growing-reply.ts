/** What stands for bytes that are no whole character. */
const unknownCharacter = '\uFFFD'

/**
 * A reply while it is sampled: its tokens, and the text that is certain so far. Text is held back while it may be half of a
 * character, or the beginning of a text that ends the reply.
 */
export class GrowingReply {
  readonly ids: number[] = []
  readonly logprobs: number[] = []
  /** The text that ended it, which is not part of what it says. */
  stoppedBy: string | undefined
  private readonly textOf: (ids: Int32Array) => string
  private readonly stopTexts: readonly string[]
  private readonly stopIds: ReadonlySet<number>
  private readonly longestStop: number
  private text = ''
  /** Tokens and characters up to which later tokens change nothing. */
  private clean = { tokens: 0, characters: 0 }
  private over = false

  constructor(options: {
    /** The text of ids; of some that follow each other it is the text of one after that of the other. */
    textOf: (ids: Int32Array) => string
    stopTexts: readonly string[]
    /** Ids that end a reply and are not text. */
    stopIds: ReadonlySet<number>
  }) {
    this.textOf = options.textOf
    this.stopTexts = options.stopTexts
    this.stopIds = options.stopIds
    this.longestStop = Math.max(0, ...options.stopTexts.map(({ length }) => length))
  }

  /** Takes tokens, up to the one that completes a text that ends the reply; true when there was one. */
  add(ids: ArrayLike<number>, logprobs: ArrayLike<number>): boolean {
    // Where a text may end the reply, each token is looked at by itself: those after it are not part of the reply.
    const atOnce = this.stopTexts.length === 0 ? ids.length : 1
    for (let from = 0; from < ids.length && this.stoppedBy === undefined; from += atOnce) {
      for (let at = from; at < from + atOnce; at++) {
        this.ids.push(ids[at]!)
        this.logprobs.push(logprobs[at]!)
      }
      this.decode()
    }
    return this.stoppedBy !== undefined
  }

  /** No more will come: what was held back is text after all. */
  end(): void {
    this.over = true
  }

  /** What it says so far; once it has ended, all of it. */
  get said(): string {
    return this.over || this.stoppedBy !== undefined ? this.text : this.text.slice(0, this.certain())
  }

  private certain(): number {
    let whole = this.text.length
    while (whole > this.clean.characters && this.text[whole - 1] === unknownCharacter) whole--
    for (let at = Math.max(0, whole - this.longestStop + 1); at < whole; at++) {
      const tail = this.text.slice(at, whole)
      if (this.stopTexts.some((stop) => stop.startsWith(tail))) return at
    }
    return whole
  }

  private decode(): void {
    const { tokens, characters } = this.clean
    const ended = this.stopIds.has(this.ids.at(-1) ?? -1)
    const end = ended ? this.ids.length - 1 : this.ids.length
    if (tokens >= end) return
    // From the last whole character: what bytes mean may change with those that follow.
    const piece = this.textOf(Int32Array.from(this.ids.slice(tokens, end)))
    this.text = this.text.slice(0, characters) + piece
    this.cutAtStop(Math.max(0, characters - this.longestStop + 1))
    if (this.stoppedBy === undefined && !piece.endsWith(unknownCharacter))
      this.clean = { tokens: end, characters: this.text.length }
  }

  private cutAtStop(from: number): void {
    let first = this.text.length
    for (const stop of this.stopTexts) {
      const at = this.text.indexOf(stop, from)
      if (at < 0 || at >= first) continue
      first = at
      this.stoppedBy = stop
    }
    this.text = this.text.slice(0, first)
  }
}
