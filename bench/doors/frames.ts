import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** No mask at all: what a client sends goes out as it was prepared. */
const noMask = [0, 0, 0, 0]
const longest = 125

/** A text as a WebSocket frame of a client, prepared once and sent many times (RFC 6455, 5.2). */
export function textFrame(text: string): Buffer {
  return frame(0x81, Buffer.from(text))
}

function frame(first: number, body: Buffer): Buffer {
  const length =
    body.length <= longest ? [0x80 | body.length] : [0x80 | 126, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([first, ...length, ...noMask]), body])
}

/**
 * A WebSocket that costs next to nothing, so that a bench's load leaves the machine to the server: frames are prepared, one
 * question is asked at a time, and an answer is the text of one frame.
 */
export class FrameClient {
  private readonly socket: Socket
  private come: Buffer = Buffer.alloc(0)
  private waiting: PromiseWithResolvers<string> | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.come = this.come.length === 0 ? chunk : Buffer.concat([this.come, chunk])
      this.read()
    })
    socket.on('error', () => {})
    socket.on('close', () => this.waiting?.reject(new Error('the connection was closed')))
  }

  static async open(url: string): Promise<FrameClient> {
    const { hostname, port, pathname } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (!answer.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) throw new Error(String(answer))
    return new FrameClient(socket)
  }

  /** Sends a prepared frame; gives the text that answers it. */
  ask(prepared: Buffer): Promise<string> {
    this.waiting = Promise.withResolvers()
    this.socket.write(prepared)
    return this.waiting.promise
  }

  private read(): void {
    const { come } = this
    if (come.length < 2) return
    const short = come[1]! & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (come.length < head) return
    const length =
      short < 126 ? short : short === 126 ? come.readUInt16BE(2) : Number(come.readBigUInt64BE(2))
    if (come.length < head + length) return
    this.come = come.subarray(head + length)
    const { waiting } = this
    const opcode = come[0]! & 0x0f
    // Pings and the end of a connection are nobody's answer.
    if (opcode === 1) {
      this.waiting = undefined
      waiting?.resolve(come.toString('latin1', head, head + length))
    }
    if (this.come.length > 0) this.read()
  }
}
