/** No line of a protocol is longer. */
export const mostLineBytes = 4 * 2 ** 20

/** Lines of a stream of bytes, in order. Nothing is read ahead while nobody waits for a line. */
export class LineQueue {
  private readonly source: { pause(): void; resume(): void }
  private readonly mostBytes: number
  private parts: Buffer[] = []
  private bytes = 0
  private readonly lines: string[] = []
  private waiting: ((line: string | undefined) => void) | undefined
  private over = false

  constructor(source: { pause(): void; resume(): void }, mostBytes: number) {
    this.source = source
    this.mostBytes = mostBytes
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.add(chunk.subarray(from, at))
      this.lines.push(Buffer.concat(this.parts).toString('utf8'))
      this.parts = []
      this.bytes = 0
      from = at + 1
    }
    this.add(chunk.subarray(from))
    this.give()
  }

  end(): void {
    this.over = true
    if (this.bytes > 0) this.lines.push(Buffer.concat(this.parts).toString('utf8'))
    this.parts = []
    this.bytes = 0
    this.give()
  }

  /** The next line that holds anything; undefined when there is none any more. */
  next(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.waiting = resolve
      this.source.resume()
      this.give()
    })
  }

  private add(part: Buffer): void {
    // What is longer is kept up to the limit: no line of a protocol is.
    const room = Math.max(0, this.mostBytes - this.bytes)
    const kept = Buffer.from(part.subarray(0, room))
    if (kept.length > 0) this.parts.push(kept)
    this.bytes += kept.length
  }

  private give(): void {
    if (this.waiting !== undefined) {
      let line = this.lines.shift()
      while (line !== undefined && line.trim() === '') line = this.lines.shift()
      if (line !== undefined || this.over) {
        this.waiting(line)
        this.waiting = undefined
      }
    }
    if (this.waiting === undefined && this.lines.length > 0) this.source.pause()
  }
}
