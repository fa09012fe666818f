import { textOf } from '../../core/index.ts'
import type { ListedTask, Opening, Session, SessionCore, Settled, Step } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import type { Action } from './actions.ts'
import {
  callObservation,
  messageObservation,
  type Observed,
  resetObservation,
  verdictMetadata,
} from './observations.ts'
import { failure, type Refusal, refusalOf, unscored } from './refusals.ts'

const nothingDone = 'The episode is over; nothing was carried out. Reset to begin another.'

/** One session as this protocol plays it: steps one after the other, and its reward told once. */
export class Episode {
  readonly session: Session
  private readonly core: SessionCore
  private opening: Opening | undefined
  /** The reward has been told. */
  private told = false
  /** The step before, by which a step that is sent again is known. */
  private last: { id: string; observed: Observed } | undefined
  /** Why no step of it is carried out any more. */
  private broken: Refusal | undefined
  steps = 0

  constructor(session: Session, core: SessionCore) {
    this.session = session
    this.core = core
  }

  get task(): ListedTask {
    return this.session.task
  }

  get tools(): Opening['tools'] {
    return this.opening?.tools ?? []
  }

  get over(): boolean {
    return this.broken !== undefined || this.session.verdict !== undefined
  }

  /** What the agent has to begin with. Throws a `Refusal` when the world does not come. */
  async open(): Promise<Observed> {
    try {
      this.opening ??= await this.session.opened()
    } catch (thrown) {
      throw thrown instanceof SessionError ? refusalOf(thrown, this.core.stats(), true) : thrown
    }
    return { observation: resetObservation(this.opening, this.task), reward: null, done: false }
  }

  /** The same for a client that has come back; its next step may be one that was carried out already. */
  async resumed(): Promise<Observed> {
    const { observation } = await this.open()
    const metadata = { ...(observation['metadata'] as object), resumed: true, step_count: this.steps }
    return { observation: { ...observation, metadata }, reward: null, done: this.over }
  }

  /** Carries out a step. Rejects with a `Refusal` for an episode that failed or has no score. */
  step(action: Exclude<Action, { kind: 'list_tools' }>): Promise<Observed> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    const id = 'id' in action ? action.id : undefined
    if (id === undefined) return this.observed(action)
    if (this.last?.id === id) return Promise.resolve(this.last.observed)
    return this.observed(action).then((observed) => {
      this.last = { id, observed }
      return observed
    })
  }

  /** Calls a tool for a client that sees no rewards: one that this call earns waits for the next step. */
  async call(name: string, given: unknown): Promise<Step> {
    if (this.broken !== undefined) throw this.broken
    try {
      const step = await this.session.call({ name, arguments: given })
      this.steps++
      return step
    } catch (thrown) {
      if (isOver(thrown)) return { content: nothingDone, error: 'episode_over' }
      throw thrown
    }
  }

  /** No step is carried out from here on. */
  async breakOff(why: Refusal): Promise<void> {
    this.broken ??= why
    await this.session.close()
  }

  private async observed(action: Exclude<Action, { kind: 'list_tools' }>): Promise<Observed> {
    let step: Step
    try {
      if (action.kind === 'finish') {
        const { answer } = action
        return this.ended(
          { content: '' },
          action,
          await this.session.grade(answer === undefined ? {} : { answer }),
        )
      }
      step = await this.carriedOut(action)
      this.steps++
    } catch (thrown) {
      if (!isOver(thrown)) throw thrown
      step = { content: nothingDone, error: 'episode_over', done: 'over' }
    }
    if (step.done === undefined) return { observation: shapeOf(action, step), reward: null, done: false }
    return this.ended(step, action, await this.session.settled())
  }

  private carriedOut(action: Extract<Action, { kind: 'call_tool' | 'message' }>): Promise<Step> {
    const { id } = action
    const named = id === undefined ? {} : { id }
    if (action.kind === 'message') {
      const { message: content } = action
      return this.session.act(id === undefined ? { content } : { id, content })
    }
    const { name, arguments: given, text, batch } = action
    return this.session.call({
      ...named,
      name,
      arguments: given,
      ...(text === undefined ? {} : { text }),
      ...(batch === undefined ? {} : { batch }),
    })
  }

  private ended(step: Step, action: Exclude<Action, { kind: 'list_tools' }>, settled: Settled): Observed {
    if (settled.kind === 'failed') throw failure(settled.fault)
    if (settled.kind === 'unscored') throw unscored(settled)
    const reward = this.told ? null : settled.reward
    this.told = true
    const observation = shapeOf(action, step)
    const metadata = { ...(observation['metadata'] as object), ...verdictMetadata(settled) }
    return { observation: { ...observation, metadata }, reward, done: true }
  }
}

function shapeOf(action: Exclude<Action, { kind: 'list_tools' }>, step: Step): Record<string, unknown> {
  if (action.kind === 'call_tool') return callObservation(action.name, step)
  if (action.kind === 'message') return messageObservation(step)
  return { message: textOf(step.content), messages: [], metadata: {} }
}

function isOver(thrown: unknown): boolean {
  return thrown instanceof SessionError && thrown.code === 'episode_over'
}
