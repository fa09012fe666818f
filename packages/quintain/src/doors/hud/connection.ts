import type { Socket } from 'node:net'
import { messageOf } from '../../core/index.ts'
import { SessionError, type SessionErrorCode } from '../session/session-error.ts'
import type { Channel } from './channel.ts'
import { FrameReader } from './frame-reader.ts'
import type { FrameRoom } from './frame-room.ts'
import {
  type BadFrame,
  errorFrame,
  type Frame,
  frameLimit,
  isBad,
  oldFrameLimit,
  RpcError,
  readFrame,
  replyFrame,
  rpc,
} from './frames.ts'
import { interrupting, longMethods, Speaker } from './methods.ts'
import { openTunnel } from './tunnel.ts'

/** Requests that may wait behind the one that is answered; what is sent beyond is not read meanwhile. */
const mostWaiting = 32
/** Frames that are no requests, after which a connection is ended: nobody at the other end speaks the protocol. */
const mostBad = 16

export interface ConnectionOptions {
  channel: Channel
  log(line: string): void
  /** Milliseconds in which the first frame must come, and any frame be whole. */
  frameMs: number
  /** Shared by all connections of a door. */
  room: FrameRoom
}

interface Waiting {
  frame: Frame | BadFrame
  /** Length of its line. */
  bytes: number
  /** The connection is ended with its answer. */
  last: boolean
  /** Resolves with the name of the request that interrupted it. */
  interrupted: PromiseWithResolvers<string>
}

/** Speaks with one client until it leaves. The first frame decides what the connection is for. */
export function serveConnection(socket: Socket, options: ConnectionOptions): void {
  new Connection(socket, options).begin()
}

class Connection {
  private readonly socket: Socket
  private readonly options: ConnectionOptions
  private readonly reader = new FrameReader(frameLimit)
  private readonly speaker: Speaker
  private readonly queue: Waiting[] = []
  private current: Waiting | undefined
  private answering = false
  private first = true
  private bad = 0
  /** Bytes of the frames that came whole and are not answered. */
  private waiting = 0
  /** Bytes that are taken in the room. */
  private taken = 0
  /** A frame is to be answered after which nothing is. */
  private closing = false
  /** The client sends no more. */
  private hungUp = false
  /** No more requests are taken: it said goodbye, sent what is no frame, or is gone. */
  private over = false
  private timer: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.options = options
    this.speaker = new Speaker(options.channel)
  }

  begin(): void {
    const { socket } = this
    socket.on('data', this.onData)
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.ended())
    socket.on('close', () => this.gone())
    this.expectFrame()
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.over || this.closing) return
    this.reader.push(chunk)
    this.takeFrames()
    if (!this.over) this.holdRoom()
  }

  /** Ends with an error where there is no room for what was sent, so that clients that send and send cannot take all memory. */
  private holdRoom(): void {
    const now = this.reader.bytes + this.waiting
    if (this.options.room.change(this.taken, now)) {
      this.taken = now
      return
    }
    this.reader.rest()
    if (this.closing) return
    const text = 'Frames of all connections take too much memory now; send them one at a time, or later.'
    this.wait({ id: null, error: new RpcError(rpc.failed, text, 'busy') }, { last: true, bytes: 0 })
  }

  private leaveRoom(): void {
    this.options.room.change(this.taken, 0)
    this.taken = 0
  }

  private ended(): void {
    this.hungUp = true
    this.speaker.hangUp()
    if (!this.answering) this.gone()
  }

  private takeFrames(): void {
    while (!this.over && !this.closing && !this.full) {
      const line = this.reader.next()
      if (line === undefined) break
      this.whole()
      if (line === 'too-long') {
        const text = `The frame has more than ${frameLimit} bytes; send large data by a tool.`
        this.wait({ id: null, error: new RpcError(rpc.failed, text) }, { last: true, bytes: 0 })
        break
      }
      if (line.trim() !== '') this.take(readFrame(line), line)
    }
    if (this.over || this.closing) return
    if (this.full) this.socket.pause()
    else if (this.reader.unfinished) this.expectFrame()
  }

  /** No more is read until something is answered. */
  private get full(): boolean {
    return this.queue.length >= mostWaiting || this.waiting > frameLimit
  }

  private take(frame: Frame | BadFrame, line: string): void {
    const { first } = this
    const bytes = line.length
    this.first = false
    if (isBad(frame)) {
      // A page of the web can have a browser connect here, which begins with words of HTTP: what it sends after them is not read.
      const stranger = first && !line.trimStart().startsWith('{')
      this.wait(frame, { last: stranger || ++this.bad >= mostBad, bytes })
      return
    }
    if (first && frame.method === 'tunnel.open') {
      this.handOver(frame)
      return
    }
    if (interrupting.has(frame.method)) this.interrupt(frame.method)
    this.wait(frame, { last: frame.method === 'bye', bytes })
  }

  private wait(frame: Frame | BadFrame, { last, bytes }: Pick<Waiting, 'last' | 'bytes'>): void {
    this.closing ||= last
    this.waiting += bytes
    this.queue.push({ frame, bytes, last, interrupted: Promise.withResolvers() })
    if (!this.answering) void this.answerAll()
  }

  /** Ends the calls that came before and take long. */
  private interrupt(method: string): void {
    this.current?.interrupted.resolve(method)
    for (const { interrupted } of this.queue) interrupted.resolve(method)
  }

  private async answerAll(): Promise<void> {
    this.answering = true
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) {
      this.current = next
      await this.answer(next)
      this.current = undefined
      this.waiting -= next.bytes
      if (!this.over) this.holdRoom()
      if (next.last) this.gone()
      if (this.socket.isPaused() && !this.over) {
        this.socket.resume()
        this.takeFrames()
        this.holdRoom()
      }
    }
    this.answering = false
    if (this.hungUp) this.gone()
  }

  private async answer({ frame, interrupted }: Waiting): Promise<void> {
    if (isBad(frame)) {
      await this.send(errorFrame(frame.id, frame.error))
      return
    }
    const { id, method } = frame
    try {
      const result = await this.resultOf(frame, interrupted.promise)
      if (id !== undefined && (await this.sendResult(id, method, result))) this.told(method)
    } catch (thrown) {
      const error = this.errorOf(thrown, method)
      if (id !== undefined && (await this.send(errorFrame(id, error))) && isVerdict(error)) this.told(method)
    }
  }

  /** A client that hung up before may not have heard it, and can come back and ask again. */
  private told(method: string): void {
    if (!this.hungUp && !this.over) this.speaker.sent(method)
  }

  private resultOf(frame: Frame, interrupted: Promise<string>): Promise<object> {
    if (!longMethods.has(frame.method)) return this.speaker.answer(frame)
    const broken = interrupted.then((by) => {
      throw new RpcError(rpc.failed, `${by} interrupted the task`, 'interrupted')
    })
    return Promise.race([broken, Promise.resolve().then(() => this.speaker.answer(frame))])
  }

  private async sendResult(id: string | number, method: string, result: object): Promise<boolean> {
    const line = replyFrame(id, result)
    const bytes = Buffer.byteLength(line) - 1
    if (bytes > frameLimit) {
      if (method === 'tasks.start')
        await this.speaker.answer({ id: undefined, method: 'tasks.cancel', params: {} })
      throw new RpcError(
        rpc.failed,
        `The reply has ${bytes} bytes; clients of HUD take ${frameLimit}.`,
        'too_long',
      )
    }
    if (bytes > oldFrameLimit)
      this.options.log(
        `hud: a reply to ${method} has ${bytes} bytes; clients before hud 0.6.16 take ${oldFrameLimit} and break off`,
      )
    return this.send(line)
  }

  /** Whether it has gone out, as far as anybody here can know. */
  private send(line: string): Promise<boolean> {
    const { socket } = this
    if (!socket.writable) return Promise.resolve(false)
    return new Promise((resolve) => {
      const left = () => resolve(false)
      socket.once('close', left)
      socket.write(line, (error) => {
        socket.off('close', left)
        resolve(error === undefined || error === null)
      })
    })
  }

  private errorOf(thrown: unknown, method: string): RpcError {
    if (thrown instanceof RpcError) return thrown
    if (thrown instanceof SessionError) {
      const code = paramsAtFault.has(thrown.code) ? rpc.badParams : rpc.failed
      return new RpcError(code, thrown.message, thrown.code)
    }
    this.options.log(`hud: ${method}: ${messageOf(thrown)}`)
    return new RpcError(rpc.failed, 'The server failed; its log says why.')
  }

  private handOver(frame: Frame): void {
    const { socket, options } = this
    this.over = true
    this.whole()
    for (const event of ['data', 'end', 'error', 'close']) socket.removeAllListeners(event)
    this.leaveRoom()
    openTunnel(socket, frame, { channel: options.channel, rest: this.reader.rest() })
  }

  /** A client that begins a frame ends it soon, and one that connects says what for. */
  private expectFrame(): void {
    if (this.timer !== undefined) return
    this.timer = setTimeout(() => this.socket.destroy(), this.options.frameMs)
    this.timer.unref()
  }

  private whole(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private gone(): void {
    if (this.over) return
    this.over = true
    this.whole()
    this.queue.length = 0
    this.reader.rest()
    this.leaveRoom()
    this.speaker.leave(false)
    this.socket.end()
    // What it still sends is read and forgotten, so that it can read what it was told last; not for ever.
    setTimeout(() => this.socket.destroy(), lingerMs).unref()
  }
}

/** How long a connection that is over is left to the client to close. */
const lingerMs = 1_000

const paramsAtFault: ReadonlySet<SessionErrorCode> = new Set([
  'unknown_task',
  'unknown_split',
  'seed_refused',
])

/** An error that tells how the episode ended, rather than why it was not asked. */
function isVerdict({ reason }: RpcError): boolean {
  return reason !== undefined && /^(?:fault|unscored):/.test(reason)
}
