import type { Duplex } from 'node:stream'

/** One message between us and the supervisor of a box: a letter, whose it is, and bytes. */
export interface Frame {
  type: string
  id: number
  body: Buffer
}

const headerBytes = 9
/** The supervisor never sends more at once; a longer frame means that the channel is out of step. */
const longestBody = 8 << 20

/**
 * Frames over a socket pair: letter, id and length (32 bits each, big-endian), then as many bytes. `onEnd` is called
 * once, when the other side is gone or does not speak this protocol.
 */
export class Channel {
  readonly #stream: Duplex
  #pending: Buffer[] = []
  #pendingBytes = 0
  #ended = false
  readonly #onFrame: (frame: Frame) => void
  readonly #onEnd: (reason: string) => void

  constructor(stream: Duplex, on: { frame: (frame: Frame) => void; end: (reason: string) => void }) {
    this.#stream = stream
    this.#onFrame = on.frame
    this.#onEnd = on.end
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('error', (error) => this.#end(error.message))
    stream.on('close', () => this.#end('the channel was closed'))
    stream.on('end', () => this.#end('the channel was closed'))
  }

  send(type: string, id: number, body: Uint8Array): void {
    if (this.#ended) return
    const header = Buffer.allocUnsafe(headerBytes)
    header.write(type, 0, 'latin1')
    header.writeUInt32BE(id, 1)
    header.writeUInt32BE(body.length, 5)
    this.#stream.write(header)
    if (body.length > 0) this.#stream.write(body)
  }

  close(): void {
    this.#ended = true
    this.#stream.destroy()
  }

  #take(chunk: Buffer): void {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    while (!this.#ended && this.#pendingBytes >= headerBytes) {
      if (this.#pending[0]!.length < headerBytes) this.#pending = [Buffer.concat(this.#pending)]
      const length = this.#pending[0]!.readUInt32BE(5)
      if (length > longestBody) {
        this.#end('the channel is out of step')
        return
      }
      const whole = headerBytes + length
      if (this.#pendingBytes < whole) return
      const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
      const rest = bytes.subarray(whole)
      this.#pending = rest.length > 0 ? [rest] : []
      this.#pendingBytes = rest.length
      this.#onFrame({
        type: String.fromCharCode(bytes[0]!),
        id: bytes.readUInt32BE(1),
        body: bytes.subarray(headerBytes, whole),
      })
    }
  }

  #end(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#stream.destroy()
    this.#onEnd(reason)
  }
}

/** Length-prefixed fields, as Perl's `pack '(N/a*)*'` writes and reads them. */
export function packFields(fields: readonly (string | number | Uint8Array)[]): Buffer {
  const parts: Uint8Array[] = []
  for (const field of fields) {
    const bytes = typeof field === 'object' ? field : Buffer.from(String(field), 'utf8')
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32BE(bytes.length)
    parts.push(length, bytes)
  }
  return Buffer.concat(parts)
}

/** The fields of a body; what is cut off at its end is left out. */
export function unpackFields(body: Buffer): Buffer[] {
  const fields: Buffer[] = []
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at)
    fields.push(body.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}
