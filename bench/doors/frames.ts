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

/** Read into by every client, one at a time. */
const arrived = Buffer.allocUnsafeSlow(65_536)

/**
 * A WebSocket that costs next to nothing, so that a bench's load leaves the machine to the server: frames are prepared, one
 * question is asked at a time, an answer is the text of one frame, and what arrives passes through no stream.
 */
export class FrameClient {
  private readonly socket: Socket
  /** The beginning of a frame whose end is still to come. */
  private come: Buffer | undefined
  private waiting: PromiseWithResolvers<string> | undefined
  private handshake: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>()

  private constructor(host: string, port: number) {
    this.socket = connect({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: arrived,
        callback: (bytes) => {
          this.read(arrived.subarray(0, bytes))
          return true
        },
      },
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.waiting?.reject(new Error('the connection was closed')))
  }

  static async open(url: string): Promise<FrameClient> {
    const { hostname, port, pathname } = new URL(url)
    const client = new FrameClient(hostname, Number(port))
    await once(client.socket, 'connect')
    client.socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    await client.handshake!.promise
    client.handshake = undefined
    return client
  }

  /** Sends a prepared frame; gives the text that answers it. */
  ask(prepared: Buffer): Promise<string> {
    this.waiting = Promise.withResolvers()
    this.socket.write(prepared)
    return this.waiting.promise
  }

  private read(chunk: Buffer): void {
    if (this.handshake !== undefined) {
      if (chunk.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) this.handshake.resolve()
      else this.handshake.reject(new Error(String(chunk)))
      return
    }
    const all = this.come === undefined ? chunk : Buffer.concat([this.come, chunk])
    let at = 0
    for (let end = frameEnd(all, at); end !== undefined; end = frameEnd(all, at)) {
      // Pings and the end of a connection are nobody's answer.
      if ((all[at]! & 0x0f) === 1) {
        const { waiting } = this
        this.waiting = undefined
        waiting?.resolve(all.toString('latin1', at + headOf(all[at + 1]! & 0x7f), end))
      }
      at = end
    }
    // A copy: the next client reads into the same place.
    this.come = at === all.length ? undefined : Buffer.from(all.subarray(at))
  }
}

function headOf(length: number): number {
  return length < 126 ? 2 : length === 126 ? 4 : 10
}

/** Where the frame ends that begins somewhere; undefined when its end is still to come. */
function frameEnd(bytes: Buffer, at: number): number | undefined {
  if (bytes.length < at + 2) return undefined
  const short = bytes[at + 1]! & 0x7f
  const head = at + headOf(short)
  if (bytes.length < head) return undefined
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
  return bytes.length < head + length ? undefined : head + length
}
