import { connect, type Socket } from 'node:net'
import type { OpenDoor } from '../../serve/door.ts'

export interface Reply {
  id: number | string | null
  // biome-ignore lint/suspicious/noExplicitAny: whatever the wire says, for tests to look into
  result?: any
  error?: { code: number; message: string; data?: { reason: string } }
}

/** A client that does what it is told, right or wrong: frames as text, replies in the order in which they come. */
export class RawClient {
  readonly socket: Socket
  readonly replies: Reply[] = []
  /** Everything that came, for connections that are no channel any more. */
  text = ''
  closed = false
  private ids = 0
  private wake = Promise.withResolvers<void>()

  private constructor(socket: Socket) {
    this.socket = socket
    let part = ''
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1')
      part += chunk.toString('utf8')
      const lines = part.split('\n')
      part = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('{')) this.replies.push(JSON.parse(line) as Reply)
      this.rouse()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.rouse()
    })
  }

  static async to(door: OpenDoor, place = 0): Promise<RawClient> {
    const { port } = new URL(door.addresses[place]!.url.replace('tcp:', 'http:'))
    const socket = connect({ host: '127.0.0.1', port: Number(port) })
    const client = new RawClient(socket)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return client
  }

  write(text: string): void {
    this.socket.write(text)
  }

  /** Sends a request and gives its number. */
  send(method: string, params: object = {}): number {
    const id = ++this.ids
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return id
  }

  /** The reply that comes next. */
  async next(): Promise<Reply> {
    for (;;) {
      const reply = this.replies.shift()
      if (reply !== undefined) return reply
      if (this.closed) throw new Error('the connection was closed')
      await this.wake.promise
    }
  }

  async ask(method: string, params: object = {}): Promise<Reply> {
    const id = this.send(method, params)
    const reply = await this.next()
    if (reply.id !== id) throw new Error(`reply to ${reply.id}, not to ${id}`)
    return reply
  }

  /** Resolves when the server has hung up. */
  async gone(): Promise<void> {
    while (!this.closed) await this.wake.promise
  }

  /** Hangs up without a word. */
  async vanish(): Promise<void> {
    this.socket.destroy()
    await this.gone()
  }

  private rouse(): void {
    this.wake.resolve()
    this.wake = Promise.withResolvers()
  }
}
