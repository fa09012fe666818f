import { now } from '../core/own-time.ts'
import type { Dialect, ReplyError } from '../models/dialects/dialect.ts'
import type { Exchange } from './exchange.ts'

/** A whole reply, or an error, as it is sent. */
export interface Rendered {
  status: number
  stream: boolean
  text: string
}

export interface Patience {
  /** Longest that a caller may take nothing of what is sent to it, in milliseconds. */
  stallMs: number
  /** Silence of a stream after which a comment says that it is alive, in milliseconds. */
  keepAliveMs: number
}

const jsonHeaders = { 'content-type': 'application/json' } as const
const noRetry = { ...jsonHeaders, 'x-should-retry': 'false' } as const
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const
/** A comment of an event stream; readers skip it. */
const alive = ': keep-alive\n\n'

/** Sends what is no reply of a model. */
export function sendJson(exchange: Exchange, value: unknown): void {
  exchange.send(200, jsonHeaders, JSON.stringify(value))
}

/** Sends an error. Nothing that is refused here becomes right by being asked again, so SDKs are told not to. */
export function sendError(exchange: Exchange, dialect: Dialect, error: ReplyError, headers?: object): void {
  exchange.send(
    error.status,
    { ...noRetry, ...headers },
    JSON.stringify(error.body ?? dialect.errorBody(error)),
  )
}

/** Who waits for the reply of a call, on one exchange. */
export class Recipient {
  readonly exchange: Exchange
  /** A stream was begun: its status can no longer be another. */
  begun = false
  private readonly patience: Patience
  private ended = false
  /** When the caller last took, or was sent, something. */
  private movedAt = now()
  private blocked: Promise<void> | undefined

  constructor(exchange: Exchange, patience: Patience) {
    this.exchange = exchange
    this.patience = patience
  }

  /** Sends text of a stream, which begins with it. Gives a promise while no more should be sent. */
  write(text: string): Promise<void> | undefined {
    this.begin()
    this.movedAt = now()
    const blocked = this.exchange.write(text)
    if (blocked === undefined) return undefined
    this.blocked = blocked
    return blocked.then(() => {
      this.movedAt = now()
      this.blocked = undefined
    })
  }

  /** Sends the rest of a stream. */
  end(text: string): void {
    this.begin()
    this.settle()
    this.exchange.end(text)
  }

  /** Sends a whole reply to one who was sent nothing. */
  send({ status, stream, text }: Rendered): void {
    if (stream) this.end(text)
    else {
      this.settle()
      this.exchange.send(status, status === 200 ? jsonHeaders : noRetry, text)
    }
  }

  /** Ends what is not whole so that nobody takes it for whole. */
  breakOff(text?: string): void {
    this.settle()
    this.exchange.breakOff(text)
  }

  /** Hangs up on a caller that takes nothing, and keeps one company that waits for pieces of a stream. */
  tick(at: number, stream: boolean): void {
    const idle = at - this.movedAt
    if (this.ended || this.blocked !== undefined) {
      if (idle >= this.patience.stallMs) this.exchange.breakOff()
    } else if (stream && idle >= this.patience.keepAliveMs) void this.write(alive)
  }

  private begin(): void {
    if (this.begun) return
    this.begun = true
    this.exchange.begin(streamHeaders)
  }

  private settle(): void {
    this.ended = true
    this.movedAt = now()
  }
}
