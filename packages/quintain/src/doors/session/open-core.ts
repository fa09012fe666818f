import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  openServedRun,
  type PlayEnd,
  type SeatPlayers,
  type ServedRun,
  type ServedRunOptions,
} from '../../engine/index.ts'
import { LiveSession, serverFault, settledOf } from './live-session.ts'
import { RecentNames } from './recent-names.ts'
import type {
  CoreStats,
  CreateRequest,
  ListedTask,
  Opening,
  ServedEnvironment,
  Session,
  SessionCore,
  Settled,
  TaskChoice,
} from './session.ts'
import { SessionError, type SessionErrorCode } from './session-error.ts'
import { SharedStarts } from './shared-starts.ts'
import { type ShelvedTask, TaskShelf } from './task-shelf.ts'
import { unguessable } from './unguessable.ts'

export interface CoreOptions extends Omit<ServedRunOptions, 'players'> {
  /** Sessions whose world is held at once; 1,024 when absent. */
  maxSessions?: number
  /** Milliseconds after which a session that nobody asks for is given up; 15 minutes when absent. */
  idleMs?: number
}

const defaultMost = 1_024
const defaultIdleMs = 15 * 60_000
/** Sessions whose episode is over, kept for whoever asks again what it earned. */
const mostSettled = 10_000
/** Handles and keys of sessions that are gone, kept to tell them from those that never were. */
const keptGone = 50_000
/** Tasks that are looked at, each with a world of its own, at a time. */
const mostPreviews = 32
/** How long a new session waits for a place that a closed one is about to give back: its world is closed and its record written. */
const mostLeavingMs = 10_000
const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000]

/**
 * Serves one environment: its workers start, its tasks are listed, and a run is begun in which each session is an order.
 * Throws as a run does, before anything is ordered (`QuintainError`).
 */
export async function openSessionCore(options: CoreOptions): Promise<SessionCore> {
  const { maxSessions = defaultMost, idleMs = defaultIdleMs, ...given } = options
  const players = new DoorPlayers()
  const run = await openServedRun({ ...given, players })
  return new Core(run, players, { most: maxSessions, idleMs })
}

/** Hands the agent's seat of an order to the session that plays it. */
class DoorPlayers implements SeatPlayers {
  readonly sessions = new Map<string, LiveSession>()
  private readonly starts = new SharedStarts()

  plays(seat: string): boolean {
    return seat === 'agent'
  }

  async play(...[job, start, side]: Parameters<SeatPlayers['play']>): Promise<PlayEnd> {
    return this.sessions.get(job.order.id)!.begin(this.starts.shared(start), side)
  }

  async close(): Promise<void> {}
}

class Core implements SessionCore {
  readonly environment: ServedEnvironment
  private readonly run: ServedRun
  private readonly players: DoorPlayers
  private readonly shelf: TaskShelf
  private readonly limits: { most: number; idleMs: number }
  /** By handle, oldest first. */
  private readonly sessions = new Map<string, LiveSession>()
  private readonly keys = new Map<string, LiveSession>()
  private readonly keyOf = new Map<LiveSession, string>()
  private readonly gone = new RecentNames(keptGone)
  /** Closed, and not at the end of their episodes yet. */
  private readonly leaving = new Set<LiveSession>()
  private readonly sweeper: NodeJS.Timeout
  private readonly running = new Set<Promise<unknown>>()
  private readonly counts = { created: 0, scored: 0, unscored: 0, steps: 0, stepMs: 0 }
  private readonly failed: Record<string, number> = Object.create(null)
  private readonly refused: Record<string, number> = Object.create(null)
  private readonly buckets = new Array<number>(bucketsMs.length).fill(0)
  private open = 0
  /** Tasks that are looked at now. */
  private previews = 0
  private settledHeld = 0
  private draining = false
  private whenEmpty: (() => void) | undefined

  constructor(run: ServedRun, players: DoorPlayers, limits: Core['limits']) {
    this.run = run
    this.players = players
    this.limits = limits
    this.shelf = new TaskShelf(run.tasks, (places) => run.publicTasks(places))
    this.environment = environmentOf(run)
    this.sweeper = setInterval(() => this.sweep(), Math.min(30_000, Math.max(20, limits.idleMs / 10)))
    this.sweeper.unref()
  }

  get splits() {
    return this.shelf.splits
  }

  tasks(split: string, from: number, to: number): Promise<ListedTask[]> {
    return this.counted(() => this.shelf.slice(split, from, to))
  }

  task(choice: TaskChoice): Promise<ListedTask> {
    return this.counted(() => this.shelf.listed(this.shelf.find(choice)))
  }

  newHandle(): string {
    return unguessable()
  }

  create(request: CreateRequest): Promise<Session> {
    return this.counted(() => this.createNow(request))
  }

  async preview(choice: TaskChoice, request: Parameters<SessionCore['preview']>[1] = {}): Promise<Opening> {
    return this.counted(async () => {
      const shelved = this.shelf.find(choice)
      const task = await this.shelf.listed(shelved)
      if (this.previews >= mostPreviews || this.isFull)
        throw new SessionError(
          'at_capacity',
          'As many tasks are looked at as can be at a time; ask again later.',
        )
      const session = new LiveSession({ handle: '', task, onStep: () => {}, ...request })
      const order = this.run.order(shelved.summary, { preview: true })
      this.players.sessions.set(order.id, session)
      this.previews++
      const ended = this.run.preview(order).then((given) => session.ended(settledOf(given)))
      try {
        return await session.opened()
      } finally {
        session.shut('previewed', 'the session was a look at the task')
        await ended.catch(() => {})
        this.players.sessions.delete(order.id)
        this.previews--
      }
    })
  }

  session(handle: string): Session {
    const found = this.sessions.get(handle)
    if (found !== undefined) return found
    if (this.gone.has(handle)) throw this.refusal('session_gone', 'The session was closed or has expired.')
    throw this.refusal('session_unknown', 'There is no such session.')
  }

  stats(): CoreStats {
    const { created, scored, unscored, steps, stepMs } = this.counts
    return {
      open: this.open,
      most: this.limits.most,
      draining: this.draining,
      created,
      scored,
      unscored,
      failed: { ...this.failed },
      refused: { ...this.refused },
      steps: {
        count: steps,
        totalMs: stepMs,
        buckets: bucketsMs.map((ms, place) => ({ ms, count: this.buckets[place]! })),
      },
    }
  }

  async drain(deadlineMs: number): Promise<void> {
    this.draining = true
    if (this.open === 0) return
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => {
        this.whenEmpty = resolve
      }),
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, deadlineMs))
      }),
    ])
    clearTimeout(timer)
  }

  async close(): Promise<void> {
    this.draining = true
    clearInterval(this.sweeper)
    for (const session of this.sessions.values())
      session.shut('server_closed', 'the server ended before the episode was over')
    await Promise.all(this.running)
    await this.run.close()
  }

  private async createNow(request: CreateRequest): Promise<Session> {
    const { key } = request
    const shelved = this.shelf.find(request.task)
    this.checkSeed(request)
    const task = await this.shelf.listed(shelved)
    await this.roomOfLeaving()
    // From here on nothing waits: two requests of one name make one session.
    const known = key === undefined ? undefined : this.keys.get(key)
    if (known !== undefined) {
      if (known.task.id === task.id) return known
      throw new SessionError(
        'session_conflict',
        `Episode "${short(key!)}" plays task "${known.task.id}"; name another episode for "${task.id}".`,
      )
    }
    if (key !== undefined && this.gone.has(keyMark(key)))
      throw new SessionError(
        'session_gone',
        `Episode "${short(key)}" was closed or has expired; name another.`,
      )
    if (this.draining)
      throw new SessionError('draining', 'The server is being stopped and takes no more sessions.')
    if (this.isFull)
      throw new SessionError(
        'at_capacity',
        `All ${this.limits.most} sessions are in use; close some, or serve more (--max-sessions).`,
      )
    const handle = request.handle ?? this.newHandle()
    if (this.sessions.has(handle) || this.gone.has(handle))
      throw new SessionError('session_conflict', 'That session was created before.')
    const session = new LiveSession({
      handle,
      task,
      onStep: (ms) => this.stepped(ms),
      onShut: () => {
        if (session.holdsWorld) this.leaving.add(session)
        this.forget(session)
      },
      ...(request.answerTool === undefined ? {} : { answerTool: request.answerTool }),
      ...(request.reserved === undefined ? {} : { reserved: request.reserved }),
    })
    this.sessions.set(handle, session)
    if (key !== undefined) {
      this.keys.set(key, session)
      this.keyOf.set(session, key)
    }
    this.counts.created++
    this.open++
    const played = this.play(session, shelved)
    this.running.add(played)
    void played.finally(() => this.running.delete(played))
    return session
  }

  private get isFull(): boolean {
    return this.open + this.previews >= this.limits.most
  }

  /** Whoever closes a session counts on its place. */
  private async roomOfLeaving(): Promise<void> {
    const until = performance.now() + mostLeavingMs
    while (this.isFull && this.leaving.size > 0) {
      const left = until - performance.now()
      if (left <= 0) return
      const late = new AbortController()
      const ends = [...this.leaving].map((session) => session.settled())
      await Promise.race([...ends, pause(left, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
    }
  }

  /** Plays a session's order to its end. Never rejects. */
  private async play(session: LiveSession, { summary }: ShelvedTask): Promise<void> {
    const order = this.run.order(summary)
    this.players.sessions.set(order.id, session)
    let verdict: Settled
    try {
      verdict = settledOf(await this.run.play(order))
    } catch (thrown) {
      verdict = serverFault(thrown)
    }
    this.players.sessions.delete(order.id)
    this.count(verdict)
    session.ended(verdict)
    this.open--
    this.leaving.delete(session)
    if (this.sessions.has(session.handle)) this.keepSettled()
    if (this.open === 0) this.whenEmpty?.()
  }

  private count(verdict: Settled): void {
    if (verdict.kind !== 'failed') this.counts[verdict.kind]++
    else {
      const name = `${verdict.fault.owner}/${verdict.fault.code}`
      this.failed[name] = (this.failed[name] ?? 0) + 1
    }
  }

  private stepped(ms: number): void {
    this.counts.steps++
    this.counts.stepMs += ms
    const place = bucketsMs.findIndex((most) => ms <= most)
    if (place >= 0) this.buckets[place]!++
  }

  /** Only worlds of the server's own seed can be had of a task that is named. */
  private checkSeed({ task, seed }: CreateRequest): void {
    if (seed === undefined || seed === null || 'seed' in task) return
    const own = this.run.manifest.seed
    if (String(seed) === own) return
    throw new SessionError(
      'seed_refused',
      `Worlds are made from seed ${own} here, so that every rollout of a task is the same task; leave the seed out, or serve with --seed ${short(String(seed))}.`,
    )
  }

  /** Lets the oldest of too many finished sessions go. */
  private keepSettled(): void {
    this.settledHeld++
    if (this.settledHeld <= mostSettled) return
    for (const session of this.sessions.values()) {
      if (session.holdsWorld) continue
      session.shut('expired', 'more episodes ended since than are kept')
      return
    }
  }

  private forget(session: LiveSession): void {
    if (!this.sessions.delete(session.handle)) return
    if (!session.holdsWorld) this.settledHeld--
    this.gone.add(session.handle)
    const key = this.keyOf.get(session)
    if (key === undefined) return
    this.keyOf.delete(session)
    this.keys.delete(key)
    this.gone.add(keyMark(key))
  }

  private sweep(): void {
    const before = performance.now() - this.limits.idleMs
    for (const session of this.sessions.values()) {
      if (session.lastSeen < before)
        session.shut(
          'session_expired',
          `the client asked nothing of the session for ${this.limits.idleMs / 1_000} s`,
        )
    }
  }

  /** Counts what is refused. */
  private async counted<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (thrown) {
      if (thrown instanceof SessionError) this.refused[thrown.code] = (this.refused[thrown.code] ?? 0) + 1
      throw thrown
    }
  }

  private refusal(code: SessionErrorCode, message: string): SessionError {
    this.refused[code] = (this.refused[code] ?? 0) + 1
    return new SessionError(code, message)
  }
}

/** A key among handles, none of which begins like this. */
function keyMark(key: string): string {
  return `key ${key}`
}

function short(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

function environmentOf({ opened }: ServedRun): ServedEnvironment {
  const { environment, location, needs } = opened
  const slug = environment.name
    .replace(/^@[^/]*\//, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return {
    name: environment.name,
    version: environment.version,
    slug: /^[a-z]/.test(slug) ? slug : `env_${slug}`,
    description: descriptionIn(location?.packageDir) ?? `${environment.name} ${environment.version}`,
    digest: environment.digest,
    needs,
    rewards: Object.fromEntries(
      Object.entries(environment.rewards).flatMap(([name, { kind, weight }]) =>
        kind === 'group' ? [] : [[name, weight]],
      ),
    ),
    metrics: environment.metrics,
    success: environment.success,
  }
}

/** What a package says of itself. */
function descriptionIn(folder: string | undefined): string | undefined {
  const file = folder === undefined ? undefined : join(folder, 'package.json')
  if (file === undefined || !existsSync(file)) return undefined
  const { description } = JSON.parse(readFileSync(file, 'utf8')) as { description?: unknown }
  return typeof description === 'string' && description !== '' ? description : undefined
}
