const lineFeed = 10

/** Lines of a connection, taken one at a time: the first may turn what follows it into bytes of something else. */
export class FrameReader {
  private readonly maxBytes: number
  private parts: Buffer[] = []
  private held = 0
  /** Pieces that hold no line feed, so that a long line is not looked through again with each of its pieces, and their bytes. */
  private searched = { parts: 0, bytes: 0 }

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Something of a line is there, and its end is not. */
  get unfinished(): boolean {
    return this.held > 0
  }

  /** Bytes that came and were not taken. */
  get bytes(): number {
    return this.held
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.parts.push(chunk)
    this.held += chunk.length
  }

  /** The next line without its end, `too-long`, or undefined where its end has not come. */
  next(): string | 'too-long' | undefined {
    const { searched } = this
    for (; searched.parts < this.parts.length; searched.parts++) {
      const part = this.parts[searched.parts]!
      const at = part.indexOf(lineFeed)
      if (at >= 0) return this.take(searched.bytes + at)
      searched.bytes += part.length
    }
    return this.held > this.maxBytes ? 'too-long' : undefined
  }

  /** What came and was not taken. */
  rest(): Buffer {
    const all = Buffer.concat(this.parts)
    this.keep(Buffer.alloc(0))
    return all
  }

  private take(end: number): string | 'too-long' {
    if (end > this.maxBytes) return 'too-long'
    const all = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts)
    this.keep(all.subarray(end + 1))
    return all.toString('utf8', 0, end).replace(/\r$/, '')
  }

  private keep(bytes: Buffer): void {
    this.parts = bytes.length === 0 ? [] : [bytes]
    this.held = bytes.length
    this.searched = { parts: 0, bytes: 0 }
  }
}
