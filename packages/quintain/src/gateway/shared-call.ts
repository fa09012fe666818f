import { now } from '../core/own-time.ts'
import type { ReplyDelta } from '../core/wire.ts'
import type { Dialect, ReplyContext } from '../models/dialects/dialect.ts'
import type { Ticked, Ticker } from '../models/ticker.ts'
import type { Exchange } from './exchange.ts'
import type { CallIdentity } from './lease-calls.ts'
import { type Patience, Recipient, type Rendered } from './recipient.ts'
import { attemptOver, broken } from './refusal.ts'
import { type CallEnd, render, StreamedReply } from './streamed-reply.ts'

export interface CallPatience extends Patience {
  /** How long a call goes on that nobody waits for, and for how long a reply that was taken is kept for a retry. */
  graceMs: number
  /** How long a reply is kept that nobody has taken; what went wrong is kept as long as the grace lasts. */
  keepMs: number
  /** For how long after a provider's fault whoever asks the same again is told the same. */
  faultMs: number
}

/** Whose call it is. */
export interface CallOwner {
  readonly patience: CallPatience
  readonly ticker: Ticker
  /** Told of what a dialect threw. */
  defect(thrown: unknown): void
  /** The request of a call is let go: its reply is written, or nobody wants it. */
  letGo(call: SharedCall): void
  /** Nobody will ask for it any more. */
  forget(call: SharedCall): void
}

export interface SharedCallOptions {
  /** By what its request is known when it comes again. */
  identity: CallIdentity
  dialect: Dialect
  /** Bytes that its request counts. */
  held: number
  /** Gives up the model's call. */
  controller: AbortController
  owner: CallOwner
}

/** Why a call is given up that nobody waits for. */
class CallerLeft extends Error {
  override readonly name = 'CallerLeft'
}

/**
 * One call of a model and whoever waits for its reply. An SDK that gave up on a call and asks again is joined to it: it
 * takes the place of the exchange that has gone, or gets the reply that never arrived.
 *
 * A stream begins with its first piece, so that a call that fails before is answered with its status.
 */
export class SharedCall implements Ticked {
  readonly identity: CallIdentity
  readonly held: number
  /** The reply reached its caller. */
  taken = false
  private readonly owner: CallOwner
  private readonly dialect: Dialect
  private readonly stream: boolean
  /** Let go when the model's call has ended: thousands that have are kept for a while. */
  private controller: AbortController | undefined
  /** What the reply is written from; let go with it. */
  private context: ReplyContext | undefined
  private recipient: Recipient | undefined
  /** The reply as the recipient is told it. */
  private streamed: StreamedReply | undefined
  /** Pieces were told to somebody who has gone, or to nobody: whoever is there now gets the whole at its end. */
  private missed = false
  private ended = false
  /** How it ended; let go once it is kept as it is sent. */
  private end: CallEnd | undefined
  /** When it ended in a fault that some SDKs answer by asking again, whatever they are told. */
  private faultAt = Number.NEGATIVE_INFINITY
  private rendered: Rendered | undefined
  private forgetAt = Number.POSITIVE_INFINITY
  private forgotten = false

  constructor(context: ReplyContext, options: SharedCallOptions) {
    this.context = context
    this.stream = context.request.wire.stream
    this.identity = options.identity
    this.held = options.held
    this.dialect = options.dialect
    this.controller = options.controller
    this.owner = options.owner
  }

  /** Nobody waits for the reply, and nobody has had it. */
  get lost(): boolean {
    return this.recipient === undefined && !this.taken
  }

  /** The provider has failed just now, after every retry there is: nobody is to ask it the same again so soon. */
  get faulted(): boolean {
    return now() - this.faultAt < this.owner.patience.faultMs
  }

  /** Hands the reply to an exchange, in place of the one that waited for it. */
  attach(exchange: Exchange): void {
    const before = this.recipient
    const recipient = new Recipient(exchange, this.owner.patience)
    this.recipient = recipient
    this.forgetAt = Number.POSITIVE_INFINITY
    this.owner.ticker.add(this)
    this.missed ||= this.streamed !== undefined
    this.streamed = undefined
    before?.breakOff()
    exchange.onClose((taken) => this.detach(recipient, taken))
    if (this.rendered !== undefined) recipient.send(this.rendered)
    else if (this.end !== undefined) this.deliver(this.end)
  }

  /** A piece of the reply. Gives a promise while the recipient does not keep up. */
  onDelta(delta: ReplyDelta): Promise<void> | undefined {
    const { recipient, context } = this
    this.missed ||= recipient === undefined
    if (this.missed || recipient === undefined || context === undefined) return undefined
    try {
      this.streamed ??= new StreamedReply(this.dialect, context)
      const text = this.streamed.delta(delta)
      return text === '' ? undefined : recipient.write(text)
    } catch (thrown) {
      this.owner.defect(thrown)
      recipient.breakOff()
      return undefined
    }
  }

  /** The model's call has ended. */
  finish(end: CallEnd): void {
    this.controller = undefined
    if (this.forgotten) return
    this.ended = true
    this.end = end
    if ('error' in end && end.error.status >= 500) this.faultAt = now()
    if (this.recipient === undefined) this.keep()
    else this.deliver(end)
  }

  /** The attempt is over. */
  close(): void {
    if (this.forgotten) return
    this.forget()
    if (this.ended) this.recipient?.breakOff()
    else this.deliver({ error: attemptOver })
    this.letGo()
    this.controller?.abort(new CallerLeft(attemptOver.message))
  }

  tick(at: number): void {
    if (this.forgotten) return
    this.recipient?.tick(at, this.stream)
    if (at < this.forgetAt) return
    this.forget()
    this.letGo()
    if (!this.ended) this.controller?.abort(new CallerLeft('the caller of this model call has gone'))
  }

  private deliver(end: CallEnd): void {
    const { recipient } = this
    if (recipient === undefined) return
    if (!recipient.begun) {
      recipient.send(this.render(end))
      this.letGo()
      return
    }
    try {
      const streamed = this.streamed ?? new StreamedReply(this.dialect, this.context!)
      if ('error' in end) recipient.breakOff(streamed.error(end.error))
      else recipient.end(streamed.end(end.response))
    } catch (thrown) {
      this.owner.defect(thrown)
      recipient.breakOff()
    }
  }

  private detach(recipient: Recipient, taken: boolean): void {
    if (this.forgotten || this.recipient !== recipient) return
    this.recipient = undefined
    const failed = this.end !== undefined && 'error' in this.end
    if (!this.ended) this.forgetAt = now() + this.owner.patience.graceMs
    // A stream that was read to its end, or that we broke off, is asked for by nobody again; a whole reply may be, by an
    // SDK that gave up on it in the moment in which it was sent.
    else if (taken ? this.stream && !this.faulted : recipient.begun && failed) {
      this.forget()
      this.letGo()
    } else {
      this.taken = taken
      this.keep()
    }
  }

  /** Keeps the reply as it is sent, and nothing else of the call. */
  private keep(): void {
    const { end } = this
    const { graceMs, keepMs, faultMs } = this.owner.patience
    if (end !== undefined) this.render(end)
    // What went wrong is worth another call before long.
    const brief = this.taken || this.rendered?.status !== 200
    this.forgetAt = Math.max(now() + (brief ? graceMs : keepMs), this.faultAt + faultMs)
    this.end = undefined
    this.owner.ticker.rest(this, this.forgetAt)
    this.letGo()
  }

  private letGo(): void {
    if (!this.forgotten) this.identity.letGo()
    if (this.context !== undefined) this.owner.letGo(this)
    this.context = undefined
    this.streamed = undefined
  }

  private render(end: CallEnd): Rendered {
    if (this.rendered !== undefined) return this.rendered
    try {
      this.rendered = render(this.dialect, this.context!, end)
    } catch (thrown) {
      this.owner.defect(thrown)
      this.rendered = render(this.dialect, this.context!, { error: broken })
    }
    return this.rendered
  }

  private forget(): void {
    this.forgotten = true
    this.rendered = undefined
    this.owner.ticker.delete(this)
    this.owner.forget(this)
  }
}
