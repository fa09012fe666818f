import type { RawData, WebSocket } from 'ws'

export interface FrameOptions {
  pingMs: number
  deadMs: number
  /**
   * Answers a frame: what is sent back, if anything, and whether the socket ends with it. Must not throw. `undefined` for
   * a frame that is no text.
   */
  answer(text: string | undefined): Promise<{ text?: string; end?: boolean }>
  /** The client is there. */
  alive(): void
  /** The socket is gone. An answer may be under way still; what is told to nobody is carried out all the same. */
  gone(): void
}

/** Frames that may wait to be answered before no more are read. */
const mostWaiting = 16

/**
 * Answers the frames of a socket one after the other, in the order in which they came: this protocol has no other way to
 * tell which answer is whose. What a client sends faster than it reads stays in its own network buffers.
 */
export class FrameSocket {
  /** When the client last gave a sign of life, by `performance.now`. */
  seen = performance.now()
  private readonly socket: WebSocket
  private readonly waiting: (string | undefined)[] = []
  private working = false
  private answering = false
  private closed = false

  constructor(socket: WebSocket) {
    this.socket = socket
    // What a client breaks, such as a frame that is too long, closes the socket with its code.
    socket.on('error', () => {})
  }

  /** Begins to answer. */
  serve(options: FrameOptions): void {
    const { socket } = this
    const alive = () => {
      this.seen = performance.now()
      options.alive()
    }
    const pinger = setInterval(() => {
      const silent = !this.answering && performance.now() - this.seen > options.deadMs
      if (silent) socket.terminate()
      else if (socket.readyState === socket.OPEN) socket.ping()
    }, options.pingMs)
    pinger.unref()
    socket.on('pong', alive)
    socket.on('ping', alive)
    socket.on('message', (data: RawData, isBinary: boolean) => {
      alive()
      if (this.closed || socket.readyState !== socket.OPEN) return
      this.waiting.push(isBinary ? undefined : String(data))
      if (this.waiting.length >= mostWaiting) socket.pause()
      if (!this.working) void this.work(options)
    })
    socket.on('close', () => {
      this.closed = true
      this.waiting.length = 0
      clearInterval(pinger)
      options.gone()
    })
  }

  /** As the reference server refuses: the socket is open, is told why not, and is closed. */
  refuse(text: string): void {
    this.socket.send(text, () => this.socket.close(1000))
  }

  terminate(): void {
    this.socket.terminate()
  }

  private async work(options: FrameOptions): Promise<void> {
    const { socket, waiting } = this
    this.working = true
    while (waiting.length > 0 && !this.closed) {
      const frame = waiting.shift()
      this.answering = true
      const { text, end } = await options.answer(frame)
      this.answering = false
      if (text !== undefined) await this.sent(text)
      if (end === true) {
        waiting.length = 0
        socket.close(1000)
      }
      if (socket.isPaused && waiting.length < mostWaiting) socket.resume()
    }
    this.working = false
  }

  /** Resolves when the text has left this process, or never will. */
  private sent(text: string): Promise<void> {
    const { socket } = this
    return new Promise((resolve) => {
      if (socket.readyState !== socket.OPEN) resolve()
      else socket.send(text, () => resolve())
    })
  }
}
