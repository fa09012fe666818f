import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Frame {
  type: string
  data: Record<string, unknown> & {
    observation: Record<string, unknown>
    reward: number | null
    done: boolean
    code: string
    message: string
  }
}

/** A socket that is asked and read in order, as the reference client does. */
export class SocketClient {
  readonly socket: WebSocket
  private readonly frames: Frame[] = []
  private readonly waiting: ((frame: Frame) => void)[] = []
  readonly closed: Promise<number>

  constructor(url: string, path = '/ws', headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
    this.socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Frame
      const taker = this.waiting.shift()
      if (taker === undefined) this.frames.push(frame)
      else taker(frame)
    })
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.on('close', (code) => resolve(code)))
  }

  async opened(): Promise<this> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open')
    return this
  }

  next(): Promise<Frame> {
    const frame = this.frames.shift()
    if (frame !== undefined) return Promise.resolve(frame)
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  async ask(frame: unknown): Promise<Frame> {
    await this.opened()
    this.send(frame)
    return this.next()
  }

  reset(data: Record<string, unknown> = {}): Promise<Frame> {
    return this.ask({ type: 'reset', data })
  }

  step(data: unknown): Promise<Frame> {
    return this.ask({ type: 'step', data })
  }

  call(name: string, given: unknown = {}): Promise<Frame> {
    return this.step({ type: 'call_tool', tool_name: name, arguments: given })
  }
}
