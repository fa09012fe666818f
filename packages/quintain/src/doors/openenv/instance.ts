import type { Fault, ToolSpec } from '../../core/index.ts'
import { OneByOne } from '../../core/one-by-one.ts'
import type { CreateRequest, Step } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import { actionOf } from './actions.ts'
import { choiceOf, type TaskPicker } from './choice.ts'
import { Episode } from './episode.ts'
import { type Observed, toolsObservation } from './observations.ts'
import { failure, Refusal } from './refusals.ts'
import { type ResetRequest, resetRequestOf } from './reset-request.ts'

/** Names that tools of this protocol may not have. */
export const reservedNames: ReadonlySet<string> = new Set(['reset', 'step', 'state', 'close'])

/** What instances at one address share. */
export interface InstanceHost extends TaskPicker {
  /** Milliseconds that one request may take before the episode is given up. */
  readonly replyMs: number
  /** Tools that a client sees which asks before its episode has begun. */
  toolsBefore(): Promise<readonly ToolSpec[]>
  /** Gives up an episode that nobody holds any more. False: there is none. */
  makeRoom(): Promise<boolean>
  warn(names: readonly string[]): void
}

/** Requests of one instance that may wait behind the one that is answered. */
const mostWaiting = 64

/**
 * What this protocol calls an environment: it is there before its first reset, and each reset begins an episode of it in
 * the place of the one before. Requests are carried out one after the other.
 */
export class Instance {
  readonly id: string
  episodeId: string | undefined
  /** By which a new socket may take the episode up; undefined where its client gave none. */
  resumeKey: string | undefined
  private readonly host: InstanceHost
  /** Its client calls tools, also where the environment has none. */
  private asksTools: boolean
  private episode: Episode | undefined
  /** Counts beginnings, so that one that comes too late is known. */
  private begun = 0
  private closed = false
  private readonly requests = new OneByOne()
  /** The request that is answered. */
  private asked: { since: number; reject(why: Refusal): void } | undefined
  /** Looks whether it takes too long. One for many requests: each by itself would cost a timer a step. */
  private watch: NodeJS.Timeout | undefined

  constructor(id: string, host: InstanceHost, { asksTools }: { asksTools: boolean }) {
    this.id = id
    this.host = host
    this.asksTools = asksTools
  }

  /** Whether something would be lost with it. */
  get holdsEpisode(): boolean {
    return this.episode !== undefined
  }

  /** Whether it takes one of the places that there are. */
  get holdsWorld(): boolean {
    return this.episode?.over === false
  }

  get busy(): boolean {
    return this.requests.count > 0
  }

  /** Begins an episode. Throws a `Refusal` or a `SessionError`; `resume` is for whoever keeps the instances. */
  reset(request: ResetRequest): Promise<Observed> {
    this.host.warn(request.unknown)
    return this.inOrder(() => this.begin(request))
  }

  resumed(): Promise<Observed> {
    return this.inOrder(() => this.playing().resumed())
  }

  /** Carries out an action as it came. Throws a `Refusal` for what is none. */
  step(given: unknown): Promise<Observed> {
    const { needs } = this.host.core.environment
    const action = actionOf(given, { speaks: !needs.includes('tools') })
    return action.kind === 'list_tools' ? this.listed() : this.inOrder(() => this.playing().step(action))
  }

  private async listed(): Promise<Observed> {
    return { observation: toolsObservation(await this.tools()), reward: null, done: false }
  }

  /** Those of the episode, or before it has begun those of the first task. */
  tools(): Promise<readonly ToolSpec[]> {
    if (this.episode === undefined) this.asksTools = true
    return this.inOrder(async () => this.episode?.tools ?? this.host.toolsBefore())
  }

  /** Calls a tool for a client without resets: where no episode has begun, this begins one. */
  call(name: string, given: unknown): Promise<Step> {
    return this.inOrder(async () => {
      if (this.episode === undefined) await this.begin(resetRequestOf(undefined))
      return this.playing().call(name, given)
    })
  }

  state(): Record<string, unknown> {
    const { episode } = this
    const about =
      episode === undefined
        ? {}
        : {
            task_id: episode.task.id,
            split: episode.task.split,
            index: episode.task.index,
            done: episode.over,
          }
    return {
      episode_id: this.episodeId ?? null,
      step_count: episode?.steps ?? 0,
      session_id: this.id,
      ...about,
    }
  }

  touch(): void {
    this.episode?.session.touch()
  }

  async close(): Promise<void> {
    this.closed = true
    clearTimeout(this.watch)
    this.begun++
    await this.episode?.session.close()
  }

  private playing(): Episode {
    if (this.episode === undefined)
      throw new Refusal('EXECUTION_ERROR', 'No episode has begun here: reset first.', {
        reason: 'no_episode',
      })
    return this.episode
  }

  private async begin(request: ResetRequest): Promise<Observed> {
    const { core } = this.host
    const { choice, seed } = await choiceOf(request, this.host)
    await this.episode?.session.close()
    this.episode = undefined
    const turn = ++this.begun
    const answerTool = request.answerTool ?? (core.environment.needs.includes('tools') || this.asksTools)
    const session = await this.create({
      task: choice,
      answerTool,
      reserved: reservedNames,
      ...(seed === undefined ? {} : { seed }),
    })
    if (turn !== this.begun || this.closed) {
      await session.close()
      throw new Refusal('SESSION_ERROR', 'The session was closed.')
    }
    const episode = new Episode(session, core)
    this.episode = episode
    this.episodeId = request.episodeId
    this.resumeKey = request.resumeKey
    return episode.open()
  }

  private async create(request: CreateRequest) {
    for (;;) {
      try {
        return await this.host.core.create(request)
      } catch (thrown) {
        if (!(thrown instanceof SessionError) || thrown.code !== 'at_capacity') throw thrown
        if (!(await this.host.makeRoom())) throw thrown
      }
    }
  }

  private inOrder<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new Refusal('SESSION_ERROR', 'The session was closed.'))
    if (this.requests.count >= mostWaiting)
      return Promise.reject(
        new Refusal('EXECUTION_ERROR', `${mostWaiting} requests of this session wait already.`, {
          reason: 'busy',
        }),
      )
    return this.requests.run(() => this.withinTime(work))
  }

  /** What hangs is given up, so that the next request is answered. */
  private withinTime<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.asked = { since: performance.now(), reject }
      if (this.watch === undefined) this.lookIn(this.host.replyMs)
      work().then(resolve, reject)
    })
  }

  private lookIn(ms: number): void {
    this.watch = setTimeout(() => {
      this.watch = undefined
      if (this.busy) this.look()
    }, ms)
    this.watch.unref()
  }

  private look(): void {
    const { since, reject } = this.asked!
    const left = since + this.host.replyMs - performance.now()
    if (left > 0) {
      this.lookIn(left)
      return
    }
    const why = failure(hung)
    this.begun++
    void this.episode?.breakOff(why).catch(() => {})
    reject(why)
  }
}

const hung: Fault = {
  owner: 'world',
  stage: 'tool',
  code: 'timeout',
  message: 'the environment did not answer in time',
  retryable: true,
}
