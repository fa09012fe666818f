import { type Content, canonicalJson, type Fault, messageOf, type Turn, textOf } from '../../core/index.ts'
import { OneByOne } from '../../core/one-by-one.ts'
import {
  failureOf,
  noCalls,
  type PlayEnd,
  type PlayFailure,
  type PlayStart,
  type ServedAttempt,
  type WorldSide,
} from '../../engine/index.ts'
import type {
  ActRequest,
  CallRequest,
  CreateRequest,
  ListedTask,
  Opening,
  Session,
  SessionState,
  Settled,
  Step,
} from './session.ts'
import { SessionError } from './session-error.ts'
import { type ShownTools, showTools, withoutNulls } from './shown-tools.ts'

/** Steps of one session that may wait behind the one that is carried out. */
const mostWaiting = 64
/** Results of named calls that are kept for who asks again. */
const mostResults = 256

export interface LiveSessionOptions extends Pick<CreateRequest, 'answerTool' | 'reserved'> {
  handle: string
  task: ListedTask
  /** Told of each step that was carried out, in milliseconds. */
  onStep(ms: number): void
  /** Told when the session is closed, whoever closed it. */
  onShut?(): void
}

interface Held {
  /** What was asked, to tell a repeated request from another one of the same name. */
  of: string
  step: Promise<Step>
}

/** One attempt whose agent is whoever holds this session. */
export class LiveSession implements Session {
  readonly handle: string
  readonly task: ListedTask
  lastSeen = performance.now()
  private readonly options: LiveSessionOptions
  private readonly opening = Promise.withResolvers<Opening>()
  /** The agent's part has begun, so that the opening is told. */
  private begun = false
  private readonly end = Promise.withResolvers<Settled>()
  private shown: ShownTools | undefined
  private start: PlayStart | undefined
  private side: WorldSide | undefined
  /** Ends the agent's part; undefined before it began and after it ended. */
  private finish: ((end: PlayEnd) => void) | undefined
  /** Why the agent's part is over, where it is. */
  private over: string | undefined
  /** How it ended before it had begun. */
  private early: PlayEnd | undefined
  private closed = false
  private moves = 0
  /** Calls of tools so far: each has a name of its own in the records. */
  private calls = 0
  /** Batch of the last call: calls of one batch are one move. */
  private batch: string | undefined
  private readonly steps = new OneByOne()
  private readonly results = new Map<string, Held>()
  private lastSaid: string | undefined
  private grading: Promise<Settled> | undefined
  verdict: Settled | undefined

  constructor(options: LiveSessionOptions) {
    this.options = options
    this.handle = options.handle
    this.task = options.task
    // Whoever does not ask is not told.
    this.opening.promise.catch(() => {})
  }

  get state(): SessionState {
    if (this.closed) return 'closed'
    if (this.verdict !== undefined) return 'settled'
    if (this.over !== undefined) return 'grading'
    return this.side === undefined ? 'opening' : 'open'
  }

  /** The episode's end is still to come, and with it a place among the open ones is taken. */
  get holdsWorld(): boolean {
    return this.verdict === undefined
  }

  touch(): void {
    this.lastSeen = performance.now()
  }

  opened(): Promise<Opening> {
    this.touch()
    return this.opening.promise
  }

  call(request: CallRequest): Promise<Step> {
    return this.step(request)
  }

  act(request: ActRequest): Promise<Step> {
    return this.step(request)
  }

  grade({ answer }: { answer?: Content } = {}): Promise<Settled> {
    this.touch()
    if (this.closed) return Promise.reject(gone())
    this.grading ??= this.endWith(answer)
    return this.grading
  }

  settled(): Promise<Settled> {
    this.touch()
    return this.end.promise
  }

  async close(): Promise<void> {
    this.shut('session_closed', 'the client closed the session before the episode was over')
  }

  /** Ends the session for a reason of the server's: what was not over becomes a fault of that code. */
  shut(code: string, message: string): void {
    if (this.closed) return
    this.closed = true
    this.results.clear()
    this.options.onShut?.()
    if (this.verdict !== undefined || this.over !== undefined) return
    // No owner of a fault is a client: the stage says whose end it was.
    const stage = code === 'server_closed' ? 'server' : 'client'
    const fault: Fault = { owner: 'platform', stage, code, message, retryable: false }
    this.endPart(code, { account: this.account(), thrown: { by: 'fault', fault, text: message } })
    this.opening.reject(gone())
  }

  /** The attempt has reached the agent's seat. Resolves when the agent's part is over. */
  begin(start: PlayStart, side: WorldSide): Promise<PlayEnd> {
    if (this.early !== undefined) return Promise.resolve(this.early)
    this.start = start
    this.side = side
    this.shown = showTools(start.tools, {
      answerTool: this.options.answerTool === true,
      replies: start.replies,
      ...(this.options.reserved === undefined ? {} : { reserved: this.options.reserved }),
    })
    // The agent's time is not that of whoever trains it: its clock stands still while nothing is asked of the environment.
    if (start.limits.wallMs !== undefined) side.clock({ whileAsked: true })
    return new Promise((resolve) => {
      const cut = () => this.endPart('over', { account: this.account(), thrown: { by: 'over' } })
      this.finish = (end) => {
        side.signal.removeEventListener('abort', cut)
        resolve(end)
      }
      if (side.signal.aborted) cut()
      else side.signal.addEventListener('abort', cut, { once: true })
      const { tools, answerTool } = this.shown!
      this.begun = true
      this.opening.resolve({ messages: start.messages, tools, answerTool, replies: start.replies })
    })
  }

  /** The attempt is over and recorded. */
  ended(verdict: Settled): void {
    this.verdict = verdict
    this.over ??= 'over'
    this.side = undefined
    this.start = undefined
    this.finish = undefined
    this.end.resolve(verdict)
    if (this.begun) return
    this.opening.reject(verdict.kind === 'failed' ? infrastructure(verdict.fault) : episodeOver())
  }

  private step(request: CallRequest | ActRequest): Promise<Step> {
    const { id } = request
    this.touch()
    if (this.closed) return Promise.reject(gone())
    const of = id === undefined ? '' : whatIsAsked(request)
    const known = id === undefined ? undefined : this.results.get(id)
    if (known !== undefined) return known.of === of ? known.step : Promise.reject(conflicting(id!))
    if (this.steps.count >= mostWaiting) return Promise.reject(tooMany())
    const step = this.steps.run(() => this.carriedOut(request))
    if (id !== undefined) this.keep(id, { of, step })
    return step
  }

  private keep(id: string, held: Held): void {
    this.results.set(id, held)
    if (this.results.size > mostResults) this.results.delete(this.results.keys().next().value!)
  }

  private async carriedOut(request: CallRequest | ActRequest): Promise<Step> {
    const batch = 'batch' in request ? request.batch : undefined
    if (!this.begun) await this.opening.promise
    if (this.closed) throw gone()
    if (this.over !== undefined) throw await this.whyOver()
    if (batch === undefined || batch !== this.batch) {
      if (this.atTurnLimit)
        return this.endAtTurnLimit({ content: 'The limit of turns was reached; nothing was carried out.' })
      this.moves++
    }
    this.batch = batch
    const began = performance.now()
    try {
      const step = await ('name' in request ? this.callTool(request) : this.say(request.content))
      // A batch may have further calls; it ends with the next move.
      if (step.done !== undefined || this.over !== undefined || batch !== undefined || !this.atTurnLimit)
        return step
      return this.endAtTurnLimit(step)
    } catch (thrown) {
      if (thrown instanceof SessionError) throw thrown
      return this.brokenOff(thrown)
    } finally {
      this.touch()
      this.options.onStep(performance.now() - began)
    }
  }

  private async callTool({ name, arguments: given, text }: CallRequest): Promise<Step> {
    const shown = this.shown!
    if (name === shown.answerTool) {
      const text = answerIn(given, shown.answerParameter)
      if (text !== undefined) return this.say(text)
      const content = `${name} takes { "${shown.answerParameter}": text }.`
      return { content, error: 'invalid_arguments' }
    }
    const call = {
      id: `call_${++this.calls}`,
      name: shown.named(name),
      arguments: this.argumentsOf(name, given),
    }
    const { messages, done } = await this.side!.tools([call], false, text)
    const [message] = messages
    if (done !== undefined)
      this.endPart(done, { account: this.account(), result: { outcome: 'env_done', stop: done } })
    const unknown = message?.error === 'unknown_tool' && this.shown!.renamed
    return {
      content: unknown ? this.shown!.unknown(name) : (message?.content ?? ''),
      ...(message?.error === undefined ? {} : { error: message.error }),
      ...(done === undefined ? {} : { done }),
    }
  }

  /** Arguments as the engine reads them: JSON text, whatever it says. */
  private argumentsOf(name: string, given: unknown): string {
    const schema = this.shown!.specOf(name)?.parameters
    const value = typeof given === 'string' ? objectIn(given) : given
    if (value === undefined || value === null) return typeof given === 'string' ? given : '{}'
    if (typeof value !== 'object' || Array.isArray(value) || schema === undefined)
      return JSON.stringify(value)
    const kept = withoutNulls(value as Record<string, unknown>, schema)
    return JSON.stringify(kept)
  }

  private async say(content: Content): Promise<Step> {
    this.lastSaid = textOf(content)
    if (!this.start!.replies) {
      this.endPart('completed', {
        account: this.account(),
        result: { outcome: 'completed', answer: content },
      })
      return { content: '', done: 'completed' }
    }
    const turn: Turn = await this.side!.reply(content)
    if (turn.done === undefined) return { content: turn.content }
    this.endPart(turn.done, { account: this.account(), result: { outcome: 'env_done', stop: turn.done } })
    return { content: turn.content, done: turn.done }
  }

  private get atTurnLimit(): boolean {
    const turns = this.start?.limits.turns
    return turns !== undefined && this.moves >= turns
  }

  /** The last move that the limit allows ends the episode: nobody could make another. */
  private endAtTurnLimit(step: Step): Step {
    this.endPart('turn_limit', { account: this.account(), result: { outcome: 'turn_limit' } })
    return { ...step, done: 'turn_limit' }
  }

  /** The rollout broke off beneath a step: it was cut at a limit, or something failed. */
  private async brokenOff(thrown: unknown): Promise<Step> {
    const { side } = this
    // Without a side it has ended already.
    if (side !== undefined)
      this.endPart('broken', { account: this.account(), thrown: failureIn(thrown, side.signal) })
    const verdict = await this.end.promise
    if (verdict.kind === 'failed') throw infrastructure(verdict.fault)
    return { content: 'The episode is over: a limit was reached.', done: verdict.outcome }
  }

  private async whyOver(): Promise<SessionError> {
    const { verdict } = this
    return verdict?.kind === 'failed' ? infrastructure(verdict.fault) : episodeOver()
  }

  private async endWith(answer: Content | undefined): Promise<Settled> {
    // An episode that failed while it opened has its verdict.
    const open = await this.opening.promise.then(
      () => true,
      () => false,
    )
    // What was asked before is carried out before.
    await this.steps.run(async () => {})
    if (open && this.over === undefined && answer !== undefined && textOf(answer) !== this.lastSaid) {
      await this.act({ content: answer }).catch((thrown: unknown) => {
        if (!(thrown instanceof SessionError)) throw thrown
      })
    }
    // Who has no move left and says nothing more was stopped by the limit.
    const outcome = open && this.atTurnLimit ? 'turn_limit' : 'completed'
    this.endPart(outcome, { account: this.account(), result: { outcome } })
    return this.end.promise
  }

  private endPart(why: string, end: PlayEnd): void {
    if (this.over !== undefined) return
    this.over = why
    if (this.finish === undefined) this.early = end
    this.finish?.(end)
    this.finish = undefined
  }

  /** Nobody here knows what its model calls cost. */
  private account(): PlayEnd['account'] {
    return noCalls({ turns: this.moves, costUsd: null })
  }
}

/** What tells a repeated request from another one of the same name. */
function whatIsAsked(request: CallRequest | ActRequest): string {
  return 'name' in request
    ? `call ${request.name} ${canonicalJson(request.arguments ?? null)}`
    : `act ${JSON.stringify(request.content)}`
}

/** Whose doing it is that a step threw. What nobody has named is ours, and no agent's. */
function failureIn(thrown: unknown, over: AbortSignal): PlayFailure {
  const failure = failureOf(thrown, over)
  if (failure.by !== 'agent') return failure
  const { message, stack: text } = failure
  return {
    by: 'fault',
    fault: { owner: 'platform', stage: 'agent', code: 'session_broke', message, retryable: false },
    text,
  }
}

function gone(): SessionError {
  return new SessionError('session_gone', 'The session was closed or has expired; create another.')
}

function conflicting(id: string): SessionError {
  const message = `Call "${id}" was made before with something else; name each call anew.`
  return new SessionError('call_conflict', message)
}

function tooMany(): SessionError {
  const message = `${mostWaiting} steps of this session wait already; wait for their results.`
  return new SessionError('busy', message)
}

function episodeOver(): SessionError {
  return new SessionError('episode_over', 'The episode is over; nothing was carried out.')
}

function infrastructure(fault: Fault): SessionError {
  // Agents read it: whose fault it is and its code quote nothing of the task.
  const what = `${fault.owner}/${fault.code} (${fault.stage})`
  return new SessionError('infrastructure', `The episode failed and has no score: ${what}.`, { fault })
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function answerIn(given: unknown, parameter: string): string | undefined {
  const value = typeof given === 'string' ? objectIn(given) : given
  const text = (value as Record<string, unknown> | null | undefined)?.[parameter]
  if (typeof text === 'string') return text
  return text === undefined || text === null ? undefined : JSON.stringify(text)
}

/** What an attempt came to, as doors tell it. Nothing in it is private. */
export function settledOf({ attempt, ownReward }: ServedAttempt): Settled {
  const { verdict, fault, outcome, stop } = attempt
  if (fault !== null) return { kind: 'failed', fault }
  if (verdict === null || outcome === null || outcome === 'cancelled') {
    const message = outcome === 'cancelled' ? 'the server was stopped' : 'the attempt came to nothing'
    return {
      kind: 'failed',
      fault: { owner: 'platform', stage: 'attempt', code: 'run_stopped', message, retryable: true },
    }
  }
  const { metrics } = verdict
  if (ownReward === null)
    return { kind: 'unscored', reason: verdict.unscored?.reason ?? 'unscored', outcome, metrics }
  return {
    kind: 'scored',
    reward: ownReward,
    success: verdict.success,
    rewards: verdict.rewards,
    metrics,
    outcome,
    ...(stop === undefined ? {} : { stop }),
  }
}

/** A fault of the server itself. */
export function serverFault(thrown: unknown): Settled {
  const fault: Fault = {
    owner: 'platform',
    stage: 'attempt',
    code: 'not_recorded',
    message: messageOf(thrown),
    retryable: false,
  }
  return { kind: 'failed', fault }
}
