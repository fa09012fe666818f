const lineFeed = 10

export interface LineReaderOptions {
  /** Bytes that a line may have without its line feed; at most this much is ever held. */
  maxBytes: number
  onLine(line: string): void
  /** Told once for each line that was left out because it was longer, when it has ended or the limit is passed. */
  onTooLong(): void
}

/** Lines of a byte stream, split at LF, with a bound on what an unfinished line may hold. */
export class LineReader {
  private readonly options: LineReaderOptions
  private parts: Buffer[] = []
  private held = 0
  private skipping = false

  constructor(options: LineReaderOptions) {
    this.options = options
  }

  /** Bytes of the unfinished line that are in memory. */
  get heldBytes(): number {
    return this.held
  }

  push(chunk: Buffer): void {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(lineFeed, from)
      this.take(chunk.subarray(from, end < 0 ? chunk.length : end))
      if (end < 0) return
      this.endLine()
      from = end + 1
    }
  }

  /** The stream is over; what has no line feed is a line too. */
  end(): void {
    if (this.held > 0) this.endLine()
  }

  private take(piece: Buffer): void {
    if (this.skipping || piece.length === 0) return
    if (this.held + piece.length > this.options.maxBytes) {
      this.skipping = true
      this.parts = []
      this.held = 0
      this.options.onTooLong()
      return
    }
    this.parts.push(piece)
    this.held += piece.length
  }

  private endLine(): void {
    const { skipping, parts } = this
    this.skipping = false
    this.parts = []
    this.held = 0
    if (!skipping) this.options.onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''))
  }
}
