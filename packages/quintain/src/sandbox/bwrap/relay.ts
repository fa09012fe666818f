import { createConnection, type Socket } from 'node:net'
import type { BoxSocket } from '../../core/sandbox.ts'
import { type Frame, unpackFields } from './channel.ts'
import type { BoxLink } from './link.ts'

/** Connections of one box at once. The supervisor accepts no more, so that a box cannot use up our descriptors. */
export const mostConnections = 256
/** Sent by a box, over all its connections, and not read yet by whoever listens here. */
const mostUnread = 64 * 2 ** 20
const someUnread = 2 ** 20

/** Carries what programs in a box send to its sockets to where those end on the host, and back. */
export class Relay {
  readonly #link: BoxLink
  readonly #sockets: readonly BoxSocket[]
  readonly #connections = new Map<number, Socket>()
  /** Which of the sockets a listener of the supervisor is. */
  readonly #listeners = new Map<number, number>()

  constructor(link: BoxLink, sockets: readonly BoxSocket[]) {
    this.#link = link
    this.#sockets = sockets
  }

  /** Has the supervisor listen on every socket. */
  listen() {
    return this.#sockets.map(({ box }, index) => {
      const id = this.#link.nextId()
      this.#listeners.set(id, index)
      const where = 'port' in box ? ['port', String(box.port)] : ['path', box.path]
      return this.#link.ask('n', [...where, mostConnections], undefined, id)
    })
  }

  /** Whether a frame was for a connection. */
  take(frame: Frame): boolean {
    if (frame.type === 'C') this.#connect(frame)
    else if (frame.type === 'P') this.#forward(frame)
    else if (frame.type === 'F') this.#connections.get(frame.id)?.end()
    else if (frame.type === 'z') this.#connections.get(frame.id)?.destroy()
    else return false
    return true
  }

  end(): void {
    for (const socket of this.#connections.values()) socket.destroy()
  }

  /** A program in the box has connected to one of its sockets. */
  #connect({ id, body }: Frame): void {
    const target = this.#sockets[this.#listeners.get(Number(unpackFields(body)[0])) ?? -1]?.host
    if (target === undefined) {
      this.#link.sendBytes('z', id)
      return
    }
    const socket = createConnection({
      ...('port' in target ? { port: target.port, host: '127.0.0.1' } : { path: target.path }),
      allowHalfOpen: true,
    })
    this.#connections.set(id, socket)
    socket.on('data', (chunk: Buffer) => this.#link.sendBytes('p', id, chunk))
    socket.on('end', () => this.#link.sendBytes('f', id))
    socket.on('error', () => this.#link.sendBytes('z', id))
    socket.on('close', () => this.#connections.delete(id))
  }

  #forward({ id, body }: Frame): void {
    const socket = this.#connections.get(id)
    if (socket === undefined) return
    socket.write(Buffer.from(body))
    // Nobody reads what the box sends without end.
    if (socket.writableLength > someUnread && this.#unread() > mostUnread) socket.destroy(new Error('unread'))
  }

  #unread(): number {
    let bytes = 0
    for (const { writableLength } of this.#connections.values()) bytes += writableLength
    return bytes
  }
}
