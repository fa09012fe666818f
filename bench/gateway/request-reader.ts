const headEnd = Buffer.from('\r\n\r\n')

/** Reads requests of one connection whose bodies say how long they are, and tells of each body. */
export class RequestReader {
  private readonly onBody: (body: Buffer) => void
  private pieces: Buffer[] = []
  private come = 0
  /** Bytes of the request under way, once its head is known. */
  private expected: number | undefined
  private bodyAt = 0

  constructor(onBody: (body: Buffer) => void) {
    this.onBody = onBody
  }

  push(data: Buffer): void {
    this.pieces.push(data)
    this.come += data.length
    if (this.expected === undefined) this.readHead()
    if (this.expected === undefined || this.come < this.expected) return
    if (this.come > this.expected) throw new Error('a request came before the one before was answered')
    const body = this.whole().subarray(this.bodyAt)
    this.pieces = []
    this.come = 0
    this.expected = undefined
    this.onBody(body)
  }

  private readHead(): void {
    const bytes = this.whole()
    this.pieces = [bytes]
    const end = bytes.indexOf(headEnd)
    if (end < 0) return
    const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
    if (length === undefined) throw new Error('a request does not say how long it is')
    this.bodyAt = end + headEnd.length
    this.expected = this.bodyAt + Number(length)
  }

  private whole(): Buffer {
    return this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces)
  }
}
