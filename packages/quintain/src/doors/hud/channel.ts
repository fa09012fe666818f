import type { ToolServer } from '../../mcp/index.ts'
import type { SessionCore } from '../session/session.ts'
import { ControlSession, type ControlSessionOptions, noTask } from './control-session.ts'
import { RpcError, rpc } from './frames.ts'
import { WaitingLine } from './waiting-line.ts'

/** How long a session whose verdict was told is kept for a client that did not get to hear it. */
const answeredMs = 5 * 60_000
const sweepMs = 15_000

export interface ChannelOptions {
  core: SessionCore
  tools: ToolServer
  /** Milliseconds that a start waits for room. 15 minutes when absent. */
  patienceMs?: number
}

/** The sessions of one environment, and which of them no connection speaks for. */
export class Channel {
  readonly core: SessionCore
  readonly tools: ToolServer
  private readonly options: ControlSessionOptions
  private readonly sessions = new Map<string, ControlSession>()
  private readonly timer: NodeJS.Timeout
  /** A task that was left here has expired, and nobody was told. */
  private lost = false

  constructor({ core, tools, patienceMs = 15 * 60_000 }: ChannelOptions) {
    this.core = core
    this.tools = tools
    this.options = { core, tools, line: new WaitingLine(core, patienceMs) }
    this.timer = setInterval(() => this.sweep(), sweepMs)
    this.timer.unref()
  }

  /** Sessions that are known, live or parked. */
  get size(): number {
    return this.sessions.size
  }

  open(holder: object): ControlSession {
    const session = new ControlSession(this.options, holder)
    this.sessions.set(session.id, session)
    return session
  }

  /** The session that a client comes back to. Throws `RpcError`. */
  resume(id: string, holder: object): ControlSession {
    this.sweep()
    const session = this.sessions.get(id)
    if (session === undefined || session.isLost || (!session.isLive && !session.hasTask))
      throw new RpcError(rpc.invalid, 'unknown session: it was never here, was graded, or has expired')
    if (session.isLive) throw new RpcError(rpc.invalid, 'that session has a live connection')
    return claim(session, holder)
  }

  /** The only session that was left with a task, for a client that names none. Throws `RpcError`. */
  adopt(holder: object): ControlSession {
    this.sweep()
    const parked = [...this.sessions.values()].filter(({ isParked }) => isParked)
    const [only] = parked
    if (parked.length > 1) {
      const text = `${parked.length} parked sessions; resume one by sending hello with its session_id`
      throw new RpcError(rpc.invalid, text)
    }
    if (only === undefined) throw this.lost ? this.expired() : noTask()
    return claim(only, holder)
  }

  /** A connection speaks for it no more. */
  release(session: ControlSession, holder: object): void {
    if (session.holder !== holder) return
    session.holder = undefined
    if (!session.hasTask) this.forget(session)
  }

  /** Says goodbye to it. */
  forget(session: ControlSession): void {
    this.sessions.delete(session.id)
    void session.end().catch(() => {})
  }

  /** Keeps those alive whose client is there, and forgets those that nobody can want any more. */
  sweep(): void {
    const now = performance.now()
    for (const session of this.sessions.values()) {
      if (session.isLive) session.touch()
      else if (session.isLost) {
        this.lost = true
        this.forget(session)
      } else if (session.holder !== undefined) continue
      else if (!session.hasTask || now - (session.answeredAt ?? now) > answeredMs) this.forget(session)
    }
  }

  close(): void {
    clearInterval(this.timer)
    this.sessions.clear()
  }

  /** Beginning a task anew would grade a world in which nothing was done, so the client is told once what has happened. */
  private expired(): RpcError {
    this.lost = false
    const text = 'the task that was left here has expired and has no score; start it again'
    return new RpcError(rpc.failed, text, 'session_gone')
  }
}

function claim(session: ControlSession, holder: object): ControlSession {
  session.holder = holder
  session.attended = true
  return session
}
