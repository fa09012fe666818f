import type { RawData, WebSocket } from 'ws'

export interface FrameAnswer {
  text?: string
  /** The socket ends with it. */
  end?: boolean
}

export interface FrameOptions {
  pingMs: number
  deadMs: number
  /** Answers a frame: what is sent back, if anything. Must not throw. `undefined` for a frame that is no text. */
  answer(text: string | undefined): Promise<FrameAnswer>
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
  private options: FrameOptions | undefined
  private readonly waiting: (string | undefined)[] = []
  /** A frame is answered, or its answer has not left yet. */
  private working = false
  private answering = false
  private closed = false
  /** Texts of ours that have not left this process. */
  private leaving = 0
  private whenLeft: (() => void) | undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    // What a client breaks, such as a frame that is too long, closes the socket with its code.
    socket.on('error', () => {})
  }

  /** Begins to answer. */
  serve(options: FrameOptions): void {
    const { socket } = this
    this.options = options
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
      // Whole messages come as one buffer.
      this.waiting.push(isBinary ? undefined : (data as Buffer).toString())
      if (this.waiting.length >= mostWaiting) socket.pause()
      if (!this.working) this.next()
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

  private next(): void {
    this.working = this.waiting.length > 0 && !this.closed
    if (!this.working) return
    this.answering = true
    void this.options!.answer(this.waiting.shift()).then(this.answered)
  }

  private readonly answered = ({ text, end }: FrameAnswer) => {
    this.answering = false
    if (text !== undefined) this.send(text)
    if (this.socket.bufferedAmount > 0) void this.allLeft().then(() => this.goOn(end))
    else this.goOn(end)
  }

  private goOn(end: boolean | undefined): void {
    const { socket, waiting } = this
    if (end === true) {
      waiting.length = 0
      socket.close(1000)
    }
    if (socket.isPaused && waiting.length < mostWaiting) socket.resume()
    this.next()
  }

  private send(text: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return
    this.leaving++
    this.socket.send(text, this.left)
  }

  private readonly left = () => {
    if (--this.leaving > 0) return
    this.whenLeft?.()
    this.whenLeft = undefined
  }

  /** Resolves when what was sent has left this process, or never will. */
  private async allLeft(): Promise<void> {
    if (this.leaving === 0) return
    await new Promise<void>((resolve) => {
      this.whenLeft = resolve
    })
  }
}
