import { messageOf } from '../core/errors.ts'
import type { FaultError } from '../core/fault-error.ts'
import type { Schema } from '../core/standard-schema.ts'
import { realTimers, startCallDeadline, type Timers } from './call-deadline.ts'
import { type Channel, Connection, type Era } from './connection.ts'
import { mcpFault } from './faults.ts'
import { localErrorOf } from './guarded-transport.ts'
import { loadClient } from './sdk.ts'

export interface SessionOptions {
  /** For messages: the command or the address. */
  name: string
  /** Makes a transport of its own for each connection. */
  open(): Channel | Promise<Channel>
  era: Era
  /** A lost session takes the world's state with it. */
  stateful: boolean
  startMs: number
  callMs: number
  idleMs?: number | undefined
  /** How long the server has to show that it lives after a call was given up. */
  graceMs: number
  probeMs: number
  timers?: Timers
  onToolsChanged?(): void
  /** Ends the start when it aborts. */
  signal?: AbortSignal | undefined
  /** How the server ended and what it said last, as far as that is known and fit to be shown. */
  lastWords?(): string
}

/** What came of a request. Whatever is no answer of the server's is thrown. */
export type Answer<T> =
  | { kind: 'result'; result: T }
  | { kind: 'error'; code: number; message: string }
  | { kind: 'timeout'; ms: number; which: 'total' | 'idle' }
  | { kind: 'too_large' }
  | { kind: 'needs_input' }

export interface CallOptions {
  signal?: AbortSignal | undefined
  headers?: Record<string, string> | undefined
  progress?(done: number, total?: number, message?: string): void
}

/** Inside: the connection is gone, and the request with it. */
class SessionLost extends Error {
  override readonly name = 'SessionLost'
}

const invalidParams = -32602
/** The call needs what only a client with a person or a model behind it has: revision 2026-07-28, and 2025-11-25. */
const inputNeeded = new Set([-32021, -32042])

/**
 * One server for one attempt. Requests have an absolute limit and always ask for progress. A lost session is a fault of
 * the world; that of stateless tools is opened anew, once for each call, before it is one.
 */
export class Session {
  private readonly options: SessionOptions
  private readonly timers: Timers
  private connection: Connection
  private reopening: Promise<Connection> | undefined
  private fault: FaultError | undefined
  private closed = false
  /** Times that a lost session was opened anew. */
  recoveries = 0

  private constructor(options: SessionOptions, connection: Connection) {
    this.options = options
    this.timers = options.timers ?? realTimers
    this.connection = connection
  }

  /**
   * Throws a `FaultError` with the code `mcp_start_failed` when there is no server that speaks MCP within `startMs`.
   */
  static async open(options: SessionOptions): Promise<Session> {
    return new Session(options, await connect(options))
  }

  get client(): Connection['client'] {
    return this.connection.client
  }

  get noise(): Connection['channel']['guard']['noise'] {
    return this.connection.channel.guard.noise
  }

  /** Throws the fault of a session that is lost, for a world that wants to know before it settles its state. */
  check(): void {
    if (this.fault !== undefined) throw this.fault
    if (this.options.stateful && this.connection.lost !== undefined && !this.closed)
      throw this.lose(this.connection.lost)
  }

  /**
   * Sends a request and waits for what comes of it. Throws a `FaultError` of the world when the session is lost, when
   * the server does not live any more after a timeout, and when the answer is no result; throws the signal's reason
   * when that aborts.
   */
  async request<T>(
    request: { method: string; params?: Record<string, unknown> },
    schema: Schema<T>,
    call: CallOptions = {},
  ): Promise<Answer<T>> {
    this.check()
    const used = this.connection
    try {
      return await this.once(used, request, schema, call)
    } catch (thrown) {
      if (!(thrown instanceof SessionLost)) throw thrown
      if (this.options.stateful) throw this.lose(thrown.message)
      return await this.again(used, thrown, request, schema, call)
    }
  }

  async close(): Promise<void> {
    this.closed = true
    await this.reopening?.catch(() => {})
    await this.connection.close()
  }

  private async again<T>(
    used: Connection,
    first: SessionLost,
    request: { method: string; params?: Record<string, unknown> },
    schema: Schema<T>,
    call: CallOptions,
  ): Promise<Answer<T>> {
    const { name } = this.options
    const lost = (why: string, cause: unknown) =>
      mcpFault(
        'mcp_session_lost',
        `${name}: the session was lost (${first.message}) and could not be used when it was opened anew: ${why}`,
        { retryable: true, cause },
      )
    let fresh: Connection
    try {
      fresh = await this.reopen(used)
    } catch (thrown) {
      throw lost(messageOf(thrown), thrown)
    }
    try {
      return await this.once(fresh, request, schema, call)
    } catch (thrown) {
      throw thrown instanceof SessionLost ? lost(thrown.message, thrown) : thrown
    }
  }

  /** A new connection in the place of a lost one; calls that lost the same one share it. */
  private async reopen(lost: Connection): Promise<Connection> {
    if (this.closed) throw new Error('it was closed')
    if (this.connection !== lost) return this.connection
    this.reopening ??= (async () => {
      try {
        await lost.close()
        this.connection = await connect(this.options)
        this.recoveries++
        return this.connection
      } finally {
        this.reopening = undefined
      }
    })()
    return this.reopening
  }

  private lose(why: string): FaultError {
    const words = this.options.lastWords?.() ?? ''
    const said = words === '' || why.includes(words) ? '' : `; ${words}`
    this.fault ??= mcpFault(
      'env_lost',
      `${this.options.name}: the session with the world's state was lost: ${why}${said}`,
      { retryable: true },
    )
    return this.fault
  }

  private async once<T>(
    connection: Connection,
    request: { method: string; params?: Record<string, unknown> },
    schema: Schema<T>,
    call: CallOptions,
  ): Promise<Answer<T>> {
    call.signal?.throwIfAborted()
    if (connection.lost !== undefined) throw new SessionLost(connection.lost)
    const { callMs, idleMs, name } = this.options
    const given = new AbortController()
    let expired: 'total' | 'idle' | undefined
    const deadline = startCallDeadline({
      totalMs: callMs,
      idleMs,
      timers: this.timers,
      expire: (which) => {
        expired = which
        given.abort(new Error(`no answer within the limit (${which})`))
      },
    })
    const cancel = () => given.abort(call.signal?.reason)
    call.signal?.addEventListener('abort', cancel, { once: true })
    try {
      const result = await connection.client.request(request, schema, {
        signal: given.signal,
        // Our own limit is the only one: the SDK's does not hold against progress.
        timeout: 2 ** 31 - 1,
        ...(call.headers === undefined || connection.client.getProtocolEra() !== 'modern'
          ? {}
          : { headers: call.headers }),
        // Always given, since without it no progress token is sent and no sign of life comes back.
        onprogress: ({ progress, total, message }) => {
          deadline.touch()
          call.progress?.(progress, total, message)
        },
      })
      return { kind: 'result', result }
    } catch (thrown) {
      if (call.signal?.aborted === true) throw call.signal.reason
      if (expired !== undefined) {
        await this.mustLive(connection)
        const ms = expired === 'total' ? callMs : (idleMs ?? callMs)
        return { kind: 'timeout', ms, which: expired }
      }
      return await this.answerOf(thrown, connection, name)
    } finally {
      deadline.stop()
      call.signal?.removeEventListener('abort', cancel)
    }
  }

  /** What an error of the SDK means. */
  private async answerOf(
    thrown: unknown,
    connection: Connection,
    name: string,
  ): Promise<Exclude<Answer<never>, { kind: 'result' }>> {
    const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } = await loadClient()
    if (thrown instanceof ProtocolError) {
      const local = localErrorOf(thrown.data)
      if (local === 'stream_ended') throw new SessionLost(thrown.message)
      if (local === 'result_too_large') return { kind: 'too_large' }
      if (local === 'malformed_answer')
        throw mcpFault('mcp_bad_result', `${name}: ${thrown.message}`, { retryable: false, cause: thrown })
      // An unknown tool and arguments that do not fit are what a model may get wrong.
      if (inputNeeded.has(thrown.code)) return { kind: 'needs_input' }
      if (thrown.code === invalidParams) return { kind: 'error', code: thrown.code, message: thrown.message }
      throw mcpFault(
        'mcp_protocol_error',
        `${name}: the server answered with JSON-RPC error ${thrown.code}: ${messageOf(thrown)}`,
        { retryable: true, cause: thrown },
      )
    }
    if (thrown instanceof SdkHttpError) {
      const { status } = thrown
      // 404: the session has ended. 400 for a session that a restarted server does not know is common as well.
      if (status === 404 || (status === 400 && /session/i.test(thrown.message)))
        throw new SessionLost(`HTTP ${status}: the server does not know the session`)
      throw mcpFault('mcp_protocol_error', `${name}: the server answered with HTTP ${status}`, {
        retryable: status === undefined || status >= 500 || status === 429,
        cause: thrown,
      })
    }
    if (thrown instanceof SdkError) {
      switch (thrown.code) {
        case SdkErrorCode.InvalidResult:
        case SdkErrorCode.ClientHttpUnexpectedContent:
          throw mcpFault('mcp_bad_result', `${name}: ${messageOf(thrown)}`, {
            retryable: false,
            cause: thrown,
          })
        case SdkErrorCode.CapabilityNotSupported:
        case SdkErrorCode.UnsupportedResultType:
        case SdkErrorCode.InputRequiredRoundsExceeded:
          return { kind: 'needs_input' }
      }
    }
    // Whatever else fails on the way is the connection.
    const words = this.options.lastWords?.() ?? ''
    throw new SessionLost(
      connection.lost === undefined
        ? reasonOf(thrown)
        : `${connection.lost}${words === '' ? '' : ` (${words})`}`,
    )
  }

  /** After a call was given up: a server that still answers was only slow, one that does not is gone. */
  private async mustLive(connection: Connection): Promise<void> {
    const { client } = connection
    const { graceMs } = this.options
    const given = new AbortController()
    const timer = this.timers.set(() => given.abort(new Error('no answer')), graceMs)
    try {
      const options = { signal: given.signal, timeout: 2 ** 31 - 1 }
      await (client.getProtocolEra() === 'modern' ? client.discover(options) : client.ping(options))
    } catch (thrown) {
      const { ProtocolError } = await loadClient()
      // A refusal is an answer.
      if (thrown instanceof ProtocolError) return
      connection.lost ??= given.signal.aborted
        ? `a call got no answer within its limit, nor did a ping within ${graceMs} ms`
        : messageOf(thrown)
      throw new SessionLost(connection.lost)
    } finally {
      this.timers.clear(timer)
    }
  }
}

async function connect(options: SessionOptions): Promise<Connection> {
  const { name, startMs } = options
  const timers = options.timers ?? realTimers
  const failed = (why: string, retryable: boolean, cause?: unknown) => {
    const words = options.lastWords?.() ?? ''
    const said = words === '' ? '' : `; ${words}`
    return mcpFault('mcp_start_failed', `${name}: no MCP session came about: ${why}${said}`, {
      retryable,
      cause,
    })
  }
  let late = false
  let open: Channel | undefined
  const stop = () => {
    open?.guard.close().catch(() => {})
  }
  const timer = timers.set(() => {
    late = true
    stop()
  }, startMs)
  options.signal?.addEventListener('abort', stop, { once: true })
  const attempt = async (era: Era): Promise<Connection> => {
    options.signal?.throwIfAborted()
    open = await options.open()
    return Connection.open({
      channel: open,
      era,
      probeMs: options.probeMs,
      onToolsChanged: () => options.onToolsChanged?.(),
    })
  }
  try {
    try {
      return await attempt(options.era)
    } catch (thrown) {
      // A server that dies of the question for its era is asked no such question.
      if (options.era !== 'auto' || late || !(await closedDuringProbe(thrown))) throw thrown
      return await attempt('legacy')
    }
  } catch (thrown) {
    options.signal?.throwIfAborted()
    const { code } = (thrown ?? {}) as { code?: unknown }
    if (late) throw failed(`it took longer than ${startMs} ms`, true, thrown)
    if (code === 'ERR_ACCESS_DENIED')
      throw failed(
        'this process may start no other; declare permissions: { subprocess: true } in the environment',
        false,
        thrown,
      )
    throw failed(reasonOf(thrown), code !== 'ENOENT' && code !== 'EACCES', thrown)
  } finally {
    timers.clear(timer)
    options.signal?.removeEventListener('abort', stop)
  }
}

/** What was thrown and what caused it: `fetch failed` alone tells nobody that nothing listens there. */
function reasonOf(thrown: unknown): string {
  const said: string[] = []
  let at = thrown
  for (let depth = 0; depth < 4 && at instanceof Error; depth++) {
    const { code } = at as { code?: unknown }
    // An `AggregateError`, for a name with several addresses, has a code and no message.
    const words = at.message === '' && typeof code === 'string' ? code : messageOf(at)
    if (!said.some((earlier) => earlier.includes(words))) said.push(words)
    at = at.cause
  }
  return said.length === 0 ? messageOf(thrown) : said.join(': ')
}

async function closedDuringProbe(thrown: unknown): Promise<boolean> {
  const { SdkError, SdkErrorCode } = await loadClient()
  return (
    thrown instanceof SdkError &&
    thrown.code === SdkErrorCode.EraNegotiationFailed &&
    /connection closed/.test(thrown.message)
  )
}
