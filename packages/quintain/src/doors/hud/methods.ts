import type { Channel } from './channel.ts'
import type { ControlSession } from './control-session.ts'
import { type Frame, RpcError, rpc, shown } from './frames.ts'
import { answerOf } from './grade.ts'
import { promptOf } from './prompt.ts'
import { capabilityOf } from './session-tools.ts'
import { chooseTask, listTemplates } from './templates.ts'

/** A call of one of these can be interrupted by `tasks.cancel` and `bye`. */
export const longMethods: ReadonlySet<string> = new Set(['tasks.start', 'tasks.grade'])
export const interrupting: ReadonlySet<string> = new Set(['tasks.cancel', 'bye'])

/** What one connection may ask, and the session for which it speaks. */
export class Speaker {
  private readonly channel: Channel
  /** Its own session; made when it is first needed, or taken over by `hello`. */
  private own: ControlSession | undefined
  /** A session that was left by another connection, whose task this one grades. */
  private adopted: ControlSession | undefined

  /** Whose verdict was asked for last. */
  private graded: ControlSession | undefined

  constructor(channel: Channel) {
    this.channel = channel
  }

  /** The result of a request. Throws `RpcError` and `SessionError`. */
  async answer({ method, params }: Frame): Promise<object> {
    switch (method) {
      case 'hello':
        return this.hello(params)
      case 'tasks.list':
        return { tasks: listTemplates(this.channel.core) }
      case 'tasks.start':
        return this.start(params)
      case 'tasks.grade':
        this.graded = this.taskHolder()
        return this.graded.grade(answerOf(params['answer']))
      case 'tasks.cancel':
        return this.cancel()
      case 'bye':
        this.leave(true)
        return { goodbye: true }
      case 'tunnel.open':
        throw new RpcError(rpc.invalid, 'tunnel.open must be the first request of a connection of its own')
      default:
        throw new RpcError(rpc.unknownMethod, `method not found: ${shown(method)}`)
    }
  }

  /** What was answered has gone out. */
  sent(method: string): void {
    if (method === 'tasks.grade') this.graded?.answered()
  }

  /** The client has hung up; what it asked is still answered, and it does not wait. */
  hangUp(): void {
    for (const session of [this.own, this.adopted]) if (session?.holder === this) session.attended = false
  }

  /** The connection is over. Without a goodbye a task that it leaves is kept. */
  leave(goodbye: boolean): void {
    const { own, adopted } = this
    this.own = undefined
    this.adopted = undefined
    for (const session of [own, adopted]) {
      if (session?.holder !== this) continue
      if (goodbye) this.channel.forget(session)
      else this.channel.release(session, this)
    }
  }

  private async cancel(): Promise<object> {
    await this.session().cancel()
    if (this.adopted?.holder === this) this.channel.forget(this.adopted)
    this.adopted = undefined
    return { cancelled: true }
  }

  private hello(params: Record<string, unknown>): object {
    const { session_id: id = null } = params
    if (id !== null && typeof id !== 'string')
      throw new RpcError(rpc.badParams, "hello: 'session_id' must be a string")
    for (const name of ['workspace_routes', 'connections']) {
      const given = params[name] ?? []
      if (!Array.isArray(given)) throw new RpcError(rpc.badParams, `hello: '${name}' must be a list`)
      if (given.length > 0)
        throw new RpcError(
          rpc.badParams,
          `hello: this environment uses no ${name.replace('_', ' ')}; send none`,
        )
    }
    if (id !== null && id !== this.own?.id) {
      const resumed = this.channel.resume(id, this)
      if (this.own !== undefined) this.channel.release(this.own, this)
      this.own = resumed
    }
    const session = this.session()
    session.touch()
    const { slug, version } = this.channel.core.environment
    return {
      session_id: session.id,
      env: { name: slug, version },
      bindings: this.offersTools ? [capabilityOf(session.mount)] : [],
    }
  }

  private async start(params: Record<string, unknown>): Promise<object> {
    const choice = await chooseTask(this.channel.core, params)
    if (this.adopted !== undefined) this.channel.release(this.adopted, this)
    this.adopted = undefined
    const session = this.session()
    const opening = await session.start(choice)
    if (opening.tools.length > 0 && !this.offersTools) {
      await session.cancel()
      throw new RpcError(
        rpc.failed,
        'This task has tools, which its environment does not say it needs: add "tools" to its needs.',
        'needs_unmet',
      )
    }
    return { prompt: promptOf(opening) }
  }

  /** Whose task is graded: one's own; else the only one that was left here, which then is this connection's. */
  private taskHolder(): ControlSession {
    if (this.own?.holder === this && this.own.hasTask) return this.own
    if (this.adopted?.holder !== this) this.adopted = this.channel.adopt(this)
    return this.adopted
  }

  private session(): ControlSession {
    // Somebody may have come back to it by another connection since the client hung up.
    if (this.own?.holder !== this) this.own = this.channel.open(this)
    return this.own
  }

  /** An environment that needs nothing of its door has no tools. */
  private get offersTools(): boolean {
    return this.channel.core.environment.needs.length > 0
  }
}
