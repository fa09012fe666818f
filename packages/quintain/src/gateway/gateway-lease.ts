import { type DialectName, stackOf } from '../core/index.ts'
import type { Dialect, ReplyContext, ReplyError } from '../models/dialects/dialect.ts'
import { redactTexts } from '../models/redact.ts'
import type { Ticker } from '../models/ticker.ts'
import type { Issued } from './credential.ts'
import type { Exchange } from './exchange.ts'
import type { LeaseOptions } from './gateway.ts'
import { guessedTokens } from './guessed-tokens.ts'
import { HeldBodies } from './held-bodies.ts'
import { CallIdentity, LeaseCalls } from './lease-calls.ts'
import { heaviestBody, type JsonBody } from './read-body.ts'
import { attemptOver, broken, Refusal, refusalOf } from './refusal.ts'
import { ReplyHistories } from './reply-histories.ts'
import { type CallOwner, type CallPatience, SharedCall } from './shared-call.ts'

/** Calls of one attempt at once: more is no agent but a loop. */
const mostCalls = 1_000

const idPrefix: Record<DialectName, string> = { chat: 'chatcmpl-', responses: 'resp_', messages: 'msg_' }

/** What the leases of a gateway share. */
export interface LeaseShared {
  patience: CallPatience
  ticker: Ticker
  maxBodyBytes: number
  /** Bodies of all leases. */
  bodies: HeldBodies
  log(text: string): void
}

/** One seat of one attempt, as the gateway serves it: its calls, and what later calls may refer to. */
export class GatewayLease implements CallOwner {
  readonly handle: string
  readonly apiKey: string
  /** The policy's name, as programs are told it. */
  readonly model: string
  private readonly options: LeaseOptions
  private readonly shared: LeaseShared
  private readonly calls = new LeaseCalls()
  private readonly histories: ReplyHistories
  private asked = 0
  private underWay = 0
  /** Bodies that are being read, and those of calls under way. */
  private readonly bodies: HeldBodies
  private closed = false

  constructor({ handle, apiKey }: Issued, options: LeaseOptions, shared: LeaseShared) {
    this.handle = handle
    this.apiKey = apiKey
    this.options = options
    this.shared = shared
    this.histories = new ReplyHistories(options.room)
    this.bodies = new HeldBodies(2 * heaviestBody(shared.maxBodyBytes), shared.bodies)
    this.model = modelName(options.seat.id)
  }

  get patience(): CallPatience {
    return this.shared.patience
  }

  get ticker(): Ticker {
    return this.shared.ticker
  }

  get over(): boolean {
    return this.closed || this.options.signal?.aborted === true
  }

  /**
   * Answers a call, or joins it to the one that it repeats; lets the body go when its reply no longer needs it. Throws
   * what `refusalOf` knows.
   */
  answer(exchange: Exchange, dialect: Dialect, body: JsonBody): void {
    const { held } = body
    try {
      if (!exchange.closed && this.begin(exchange, dialect, body)) return
    } catch (thrown) {
      this.countBytes(-held)
      throw thrown
    }
    this.countBytes(-held)
  }

  /** False where the call is under way already. */
  private begin(exchange: Exchange, dialect: Dialect, { json, text, held }: JsonBody): boolean {
    if (this.over) throw new Refusal(attemptOver)
    const identity = new CallIdentity(exchange, dialect.name, text)
    const known = this.calls.find(identity)
    if (known !== undefined) {
      known.attach(exchange)
      return false
    }
    if (this.underWay >= mostCalls)
      throw soon(
        'too_many_calls',
        `More than ${mostCalls} calls of this attempt are under way; wait for some.`,
      )
    const request = dialect.readRequest(json, { history: (id) => this.histories.find(id) })
    if (request.wire.body === json) request.wire.text = text
    const context: ReplyContext = {
      request,
      model: this.model,
      id: `${idPrefix[dialect.name]}${this.handle}-${++this.asked}`,
      created: Math.floor(Date.now() / 1000),
    }
    const controller = new AbortController()
    const call = new SharedCall(context, { identity, dialect, held, controller, owner: this })
    this.calls.add(call)
    call.attach(exchange)
    void this.ask(call, { dialect, context, signal: controller.signal })
    return true
  }

  /** How many tokens a prompt has: what the model says, or a guess from its length. */
  async countTokens(dialect: Dialect, body: JsonBody): Promise<number> {
    try {
      return await this.counted(dialect, body)
    } finally {
      this.countBytes(-body.held)
    }
  }

  private async counted(dialect: Dialect, body: JsonBody): Promise<number> {
    // The number of tokens that a reply may have says nothing of its prompt, and is not asked for.
    const json =
      typeof body.json === 'object' && body.json !== null && !Array.isArray(body.json)
        ? { max_tokens: 1, ...body.json }
        : body.json
    const request = dialect.readRequest(json, { history: (id) => this.histories.find(id) })
    const { seat, signal } = this.options
    const told = await seat.countTokens?.(request, signal === undefined ? {} : { signal })
    return told ?? guessedTokens(request)
  }

  /**
   * Counts bytes of bodies that are being read or held, which whoever calls gives back as a negative number. Throws a
   * `Refusal` where an attempt holds more at once than two of the heaviest bodies, or all attempts more than there is
   * room for.
   */
  countBytes(bytes: number): void {
    if (!this.bodies.add(bytes) && bytes > 0)
      throw soon(
        'too_many_bytes',
        'The bodies under way are too large together; wait for the calls that were made before.',
      )
  }

  close(): void {
    this.closed = true
    this.calls.close()
  }

  /** What a program is told of something that was thrown. Defects are told to the log. */
  errorOf(thrown: unknown, dialect: DialectName): ReplyError {
    const error = refusalOf(thrown, dialect)
    if (error === undefined) {
      if (this.over) return attemptOver
      this.defect(thrown)
      return broken
    }
    const { redact } = this.options
    if (redact === undefined) return error
    const { body } = error
    const said = body === undefined ? {} : { body: redactTexts(body, redact) }
    return { ...error, message: redact(error.message), ...said }
  }

  private async ask(
    call: SharedCall,
    { dialect, context, signal }: { dialect: Dialect; context: ReplyContext; signal: AbortSignal },
  ): Promise<void> {
    const { request } = context
    this.underWay++
    try {
      const response = await this.options.seat.generate(request, {
        signal,
        // The lease ends its calls when the attempt is over.
        endsWithAttempt: this.options.signal !== undefined,
        ...(request.wire.stream ? { onDelta: (delta) => call.onDelta(delta) } : {}),
      })
      const ids = dialect.replyIds?.(response, context) ?? []
      if (ids.length > 0) this.histories.keep(ids, [...request.messages, response.message])
      call.finish({ response })
    } catch (thrown) {
      if (signal.aborted) return
      call.finish({ error: this.errorOf(thrown, dialect.name) })
    } finally {
      this.underWay--
    }
  }

  letGo({ held }: SharedCall): void {
    this.countBytes(-held)
  }

  forget(call: SharedCall): void {
    this.calls.delete(call)
  }

  defect(thrown: unknown): void {
    this.shared.log(`gateway: ${stackOf(thrown)}`)
  }
}

/** What passes by itself, and is asked for again by SDKs. */
function soon(code: string, message: string): Refusal {
  return new Refusal({ status: 429, code, message }, { 'x-should-retry': 'true' })
}

/** A policy's name without its provider: by it SDKs know what they may ask for. A recording's is a path of this machine. */
function modelName(id: string): string {
  const [kind, rest] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)]
  if (kind === 'recorded') return kind
  return kind === '' || kind === 'script' ? id : rest
}
