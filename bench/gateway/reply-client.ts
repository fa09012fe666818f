import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Enough of a reply's end to hold its last event and the chunk that ends it. */
const tailChars = 64
const headEnd = '\r\n\r\n'

/** What came of a reply. */
export interface Reply {
  status: number
  /** `performance.now()` when the first byte of its body came. */
  firstAt: number
  /** A whole body, or the last characters of a stream. */
  text: string
}

interface Waiting {
  onFirst: () => void
  resolve: (reply: Reply) => void
  reject: (thrown: Error) => void
}

/**
 * A connection of HTTP that costs next to nothing, so that a bench's load leaves the machine to the server: one request at
 * a time, prepared by whoever sends it, and of a stream only its first byte and its end are looked at.
 */
export class ReplyClient {
  private readonly socket: Socket
  private waiting: Waiting | undefined
  private head = ''
  /** Bytes of the body that are still to come; those of a stream are not known. */
  private left: number | undefined
  private reply: Reply = { status: 0, firstAt: 0, text: '' }

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data: Buffer) => this.read(data))
    socket.on('error', (thrown) => this.fail(thrown))
    socket.on('close', () => this.fail(new Error('the connection was closed')))
  }

  static async open(port: number): Promise<ReplyClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new ReplyClient(socket)
  }

  ask(request: string, onFirst: () => void): Promise<Reply> {
    this.head = ''
    this.left = undefined
    this.reply = { status: 0, firstAt: 0, text: '' }
    return new Promise((resolve, reject) => {
      this.waiting = { onFirst, resolve, reject }
      this.socket.write(request, 'latin1')
    })
  }

  close(): void {
    this.socket.destroy()
  }

  private read(data: Buffer): void {
    const { reply, waiting } = this
    if (waiting === undefined) return
    if (reply.status > 0) {
      this.readBody(data, waiting)
      return
    }
    this.head += data.toString('latin1')
    const end = this.head.indexOf(headEnd)
    if (end < 0) return
    reply.status = Number(this.head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.head.slice(0, end))?.[1]
    if (length !== undefined) this.left = Number(length)
    const body = Buffer.from(this.head.slice(end + headEnd.length), 'latin1')
    if (body.length > 0) this.readBody(body, waiting)
  }

  private readBody(data: Buffer, waiting: Waiting): void {
    const { reply } = this
    if (reply.firstAt === 0) {
      reply.firstAt = performance.now()
      waiting.onFirst()
    }
    if (this.left !== undefined) {
      reply.text += data.toString('latin1')
      this.left -= data.length
      if (this.left <= 0) this.finish(waiting)
      return
    }
    const from = Math.max(0, data.length - tailChars)
    reply.text = (reply.text + data.toString('latin1', from)).slice(-tailChars)
    if (reply.text.endsWith('\r\n0\r\n\r\n')) this.finish(waiting)
  }

  private finish({ resolve }: Waiting): void {
    this.waiting = undefined
    resolve(this.reply)
  }

  private fail(thrown: Error): void {
    this.waiting?.reject(thrown)
    this.waiting = undefined
  }
}
