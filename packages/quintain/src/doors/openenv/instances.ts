import { messageOf, type ToolSpec } from '../../core/index.ts'
import type { SessionCore, TaskChoice } from '../session/session.ts'
import { defaultSplit } from './choice.ts'
import { Instance, type InstanceHost, reservedNames } from './instance.ts'
import { Refusal } from './refusals.ts'
import type { Times } from './times.ts'

/** A socket that holds an instance. */
export interface Holder {
  /** Sign of life, by `performance.now`. */
  readonly seen: number
  /** Ends it without a word. */
  terminate(): void
}

interface Held {
  instance: Instance
  /** By a socket, which ends it; or by request, and then the client ends it. */
  madeBy: 'socket' | 'request'
  /** The socket that has it. */
  holder: Holder | undefined
  /** Was to be ended while a socket held it. */
  ending: boolean
  /** Since when no socket holds it. */
  alone: number
}

/** Names of which a client is told once that they mean nothing. */
const mostWarnings = 100

/** The instances at one address: whose they are, and how long they wait for whom. */
export class Instances implements InstanceHost {
  readonly core: SessionCore
  private readonly times: Times
  private readonly log: (line: string) => void
  /** In the order in which they were made. */
  private readonly held = new Map<string, Held>()
  private readonly warned = new Set<string>()
  private readonly turns = new Map<string, number>()
  private before: Promise<readonly ToolSpec[]> | undefined
  private readonly sweeper: NodeJS.Timeout

  constructor(core: SessionCore, times: Times, log: (line: string) => void) {
    this.core = core
    this.times = times
    this.log = log
    this.sweeper = setInterval(() => this.sweep(), Math.max(10, Math.min(times.graceMs, times.idleMs) / 10))
    this.sweeper.unref()
  }

  get replyMs(): number {
    return this.times.replyMs
  }

  get size(): number {
    return this.held.size
  }

  /** Throws a `Refusal` when there are more than could ever play at once. */
  create(holder?: Holder): Instance {
    const { open, most } = this.core.stats()
    if (this.held.size >= 2 * most + 64 && !this.forgetOldest())
      throw new Refusal('CAPACITY_REACHED', 'Too many sessions are open; close some.', {
        active_sessions: open,
        max_sessions: most,
      })
    const madeBy = holder === undefined ? 'request' : 'socket'
    const instance = new Instance(this.core.newHandle(), this, { asksTools: madeBy === 'request' })
    this.held.set(instance.id, { instance, madeBy, holder, ending: false, alone: performance.now() })
    return instance
  }

  /** One that was made before, for a socket. Throws a `Refusal` for one that is unknown or has a socket. */
  attach(id: string, holder: Holder): Instance {
    const held = this.held.get(id)
    if (held === undefined) throw new Refusal('SESSION_ERROR', 'There is no such session.')
    if (!this.isFree(held)) throw new Refusal('SESSION_ERROR', 'Another socket holds that session.')
    return this.take(held, holder)
  }

  /** For requests without a socket. */
  find(id: string): Instance | undefined {
    const held = this.held.get(id)
    if (held !== undefined) held.alone = performance.now()
    return held?.instance
  }

  /** The one of an episode whose socket was lost, for a new socket. Throws a `Refusal` when there is none. */
  resume(key: string, holder: Holder): Instance {
    const found = [...this.held.values()].find(
      (held) => this.isFree(held) && held.instance.holdsEpisode && held.instance.resumeKey === key,
    )
    if (found === undefined)
      throw new Refusal('SESSION_ERROR', 'No episode of that "resume_key" waits for its client.', {
        reason: 'session_gone',
      })
    return this.take(found, holder)
  }

  /** Its socket was lost without a word. */
  detach(instance: Instance, holder: Holder): void {
    const held = this.held.get(instance.id)
    if (held?.holder !== holder) return
    held.holder = undefined
    held.alone = performance.now()
    if (held.ending || (held.madeBy === 'socket' && !instance.holdsEpisode)) void this.end(instance)
  }

  /** Its client said `close` on its socket. One that was made by request outlives its sockets, and is ended by request. */
  async finish(instance: Instance): Promise<void> {
    if (this.held.get(instance.id)?.madeBy === 'socket') await this.end(instance)
  }

  /** Ends it, or sees to it that it ends with its socket. Undefined for one that is unknown. */
  async close(id: string): Promise<'closed' | 'closing' | undefined> {
    const held = this.held.get(id)
    if (held === undefined) return undefined
    if (held.holder !== undefined) {
      held.ending = true
      return 'closing'
    }
    await this.end(held.instance)
    return 'closed'
  }

  async end(instance: Instance): Promise<void> {
    this.held.delete(instance.id)
    try {
      await instance.close()
    } catch (thrown) {
      this.log(`openenv: a session could not be closed: ${messageOf(thrown)}`)
    }
  }

  async makeRoom(): Promise<boolean> {
    const left = this.oldestLeft((instance) => instance.holdsWorld)
    if (left === undefined) return false
    await this.end(left)
    return true
  }

  toolsBefore(): Promise<readonly ToolSpec[]> {
    this.before ??= this.core
      .preview({ split: defaultSplit(this.core), index: 0 }, { answerTool: true, reserved: reservedNames })
      .then(({ tools }) => tools)
      .catch((thrown: unknown) => {
        this.before = undefined
        throw thrown
      })
    return this.before
  }

  /** One after the other, and from the first again: whoever resets as often as there are tasks has had each. */
  nextTask(split: string = defaultSplit(this.core)): TaskChoice {
    const tasks = this.core.splits.find(({ name }) => name === split)?.tasks ?? 0
    const turn = this.turns.get(split) ?? 0
    if (tasks > 0) this.turns.set(split, (turn + 1) % tasks)
    return { split, index: turn }
  }

  warn(names: readonly string[]): void {
    for (const name of names) {
      if (this.warned.has(name) || this.warned.size >= mostWarnings) continue
      this.warned.add(name)
      this.log(`openenv: a reset names ${JSON.stringify(name.slice(0, 80))}, which means nothing here`)
    }
  }

  /** Waits for nobody any more. Sessions stay: they are the core's. */
  stop(): void {
    clearInterval(this.sweeper)
    this.held.clear()
  }

  /** A connection that broke somewhere on the way is not heard of here: no pongs come any more. */
  private isFree({ holder }: Held): boolean {
    return holder === undefined || performance.now() - holder.seen > 1.5 * this.times.pingMs
  }

  /** Lets go of an episode that is over and whose client is gone: nothing but its reward could be asked for again. */
  private forgetOldest(): boolean {
    const left = this.oldestLeft((instance) => !instance.holdsWorld && !instance.busy)
    if (left === undefined) return false
    void this.end(left)
    return true
  }

  /** Of those whose socket was lost. */
  private oldestLeft(is: (instance: Instance) => boolean): Instance | undefined {
    for (const { instance, madeBy, holder } of this.held.values())
      if (holder === undefined && madeBy === 'socket' && is(instance)) return instance
    return undefined
  }

  private take(held: Held, holder: Holder): Instance {
    const before = held.holder
    held.holder = holder
    before?.terminate()
    return held.instance
  }

  private sweep(): void {
    const now = performance.now()
    for (const { instance, madeBy, holder, alone } of this.held.values()) {
      if (holder !== undefined || instance.busy) continue
      const patience = madeBy === 'socket' ? this.times.graceMs : this.times.idleMs
      if (now - alone > patience) void this.end(instance)
    }
  }
}
