import {
  addCost,
  addUsage,
  type Fault,
  type Finish,
  type HarnessResult,
  isThrown,
  type Message,
  type Model,
  type ModelAddress,
  type ModelContext,
  ModelFault,
  type ModelHandle,
  type ModelRequest,
  type ModelResponse,
  noUsage,
  type ResolvedLimits,
  type RetryEntry,
  type Sampling,
  type Seat,
  type Usage,
} from '../core/index.ts'
import { RecordFull } from '../core/record-room.ts'
import type { CallBeside, Recorder } from '../core/recorder.ts'
import { DialectError } from '../models/dialects/dialect.ts'
import { usageInPlaceOf } from './believed-usage.ts'
import { breathe } from './breathe.ts'
import { eitherSignal } from './either-signal.ts'
import { guessedTokens } from './guessed-tokens.ts'
import { ProviderHealth } from './provider-health.ts'
import {
  answeredCall,
  type CallAsked,
  type CallTimes,
  type UnansweredEnd,
  unansweredCall,
} from './recorded-call.ts'
import { overloads } from './refusal.ts'
import type { SeatAccount } from './seat-account.ts'
import { type Place, SeatBudget } from './seat-budget.ts'
import {
  failureOfOtherSeat,
  faultOfCall,
  noModel,
  notYetRecovered,
  priceUnknown,
  saysTooMuch,
  tooManyTurns,
} from './seat-faults.ts'
import { rolloutOver, SeatStop } from './seat-stop.ts'
import { ToldReply } from './told-reply.ts'
import { WaitingClock } from './waiting-clock.ts'

/** Model calls of a seat other than the agent's, which no limit of the task bounds. */
const mostCallsOfOtherSeats = 1_000

/** Flag of a call whose caller left before the reply was whole. */
const clientLeft = 'client_left'
/** Flag of a call whose usage nobody has told. */
const usageEstimated = 'usage_estimated'

/** Flag of a call that failed at every try while its provider answered others. */
const failedAlone = 'call_failed_alone'
/** How long a provider has to answer a question of ours. */
const askMs = 10_000

/** The agent's own time, as the calls of its model move it. */
export interface SeatClock {
  pause(): void
  resume(): void
  /** Gives back time that turned out to be waiting. */
  credit(ms: number): void
}

/** What is said of one call. */
export interface CallOptions {
  /** Gives up this call alone. */
  signal?: AbortSignal
  /** That signal is aborted when the attempt is over, too. */
  endsWithAttempt?: boolean
  onDelta?: ModelContext['onDelta']
}

/** The model of a seat for one attempt: it counts, limits and records every call. */
export class SeatModel implements ModelHandle {
  turns = 0
  usage: Usage = noUsage
  costUsd: number | null = 0
  modelMs = 0
  waitMs = 0
  retries = 0
  readonly flags: Record<string, number> = {}
  /** The last model call's fault, until a later call succeeds: a fault that was not recovered. */
  unrecovered: Fault | undefined
  /** The first body of the program's own making that its provider refused, or fails on: a fault only where no call is answered. */
  private rejected: Fault | undefined
  private answered = false
  /** The first limit that was reached; a harness that goes on regardless does not undo it. */
  stopped: SeatStop | undefined
  /** A stop that a later answer undoes: an agent whose history did not fit may compact it, one that was refused ask otherwise. */
  private passing: SeatStop | undefined

  private readonly options: SeatModelOptions
  private readonly budget: SeatBudget
  private readonly clock: WaitingClock
  private readonly underWay = new Set<CallUnderWay>()

  get id(): string {
    return this.options.model.id
  }

  address(): Promise<ModelAddress> {
    return this.options.address?.() ?? Promise.reject(noModel(this.options.seat))
  }

  constructor(options: SeatModelOptions) {
    this.options = options
    this.budget = new SeatBudget(options.seat === 'agent' ? options.limits : { turns: mostCallsOfOtherSeats })
    this.clock = new WaitingClock(options.clock)
  }

  /**
   * Asks the model once. Rejects with a `SeatStop` at a limit or a fault, with a `DialectError` for what the upstream
   * cannot express, and with what the signal says when the attempt is over or the call was given up.
   */
  generate(request: ModelRequest, own: CallOptions = {}): Promise<ModelResponse> {
    if (own.signal === undefined) return this.call(request, this.options.signal, own)
    if (own.endsWithAttempt === true) return this.call(request, own.signal, own)
    return this.callUntilEither(request, own.signal, own)
  }

  private async callUntilEither(
    request: ModelRequest,
    signal: AbortSignal,
    own: CallOptions,
  ): Promise<ModelResponse> {
    const either = eitherSignal(this.options.signal, signal)
    try {
      return await this.call(request, either.signal, own)
    } finally {
      either.letGo()
    }
  }

  private async call(request: ModelRequest, signal: AbortSignal, own: CallOptions): Promise<ModelResponse> {
    this.checkLimits(signal)
    const breath = breathe()
    if (breath !== undefined) await breath
    const asked = { ...this.options.sampling, ...request.sampling }
    let place = this.place(asked, signal)
    while (place === undefined) {
      await this.budget.change(signal)
      place = this.place(asked, signal)
    }
    try {
      return await this.answer(request, place.sampling, signal, own)
    } finally {
      this.budget.give(place)
    }
  }

  private place(asked: Sampling, signal: AbortSignal): Place | undefined {
    this.checkLimits(signal)
    this.checkPrice()
    return this.budget.take(asked, this)
  }

  private async answer(
    request: ModelRequest,
    sampling: Sampling,
    signal: AbortSignal,
    { onDelta }: CallOptions,
  ): Promise<ModelResponse> {
    const { seat, model, recorder } = this.options
    const own = request.wire !== undefined || this.options.ownTools === true
    const tools = own ? (request.tools ?? []) : undefined
    const settings = request.wire?.settings
    const prompt = this.recordPrompt(request.messages, { tools, settings })
    const atMs = performance.now() - this.options.startedAt
    const wait = this.clock.call()
    const asked = { model: model.id, sampling, settings, tools }
    const call: CallUnderWay = { request, prompt, asked, atMs, told: new ToldReply(), idle: false }
    this.underWay.add(call)
    const { attempt, task, repeat } = this.options.context
    const context: ModelContext = {
      attempt,
      task,
      repeat,
      seat,
      signal,
      onWait: (waiting, why) => {
        // A call whose try failed is a fault until one of its tries succeeds, whatever ends the rollout before.
        if (waiting && why === 'backoff') {
          this.unrecovered = notYetRecovered(seat)
          call.failedAt ??= performance.now()
        }
        call.idle = waiting
        wait.tell(waiting)
      },
    }
    if (onDelta !== undefined)
      context.onDelta = (delta) => {
        call.told.add(delta)
        return onDelta(delta)
      }
    const sent: ModelRequest = { messages: request.messages, sampling }
    if (request.tools !== undefined) sent.tools = request.tools
    if (request.wire !== undefined) sent.wire = request.wire
    let response: ModelResponse
    try {
      response = await model.generate(sent, context)
    } catch (thrown) {
      const endMs = performance.now() - this.options.startedAt
      const alone = this.mayFailAlone(thrown, call) && (await this.answersOthers(call))
      wait.end(0)
      throw this.failed(thrown, call, signal, { endMs, alone })
    }
    wait.end(response.timing?.waitMs ?? 0)
    // What came although the caller of this call has left was sampled, and counts; not once it was recorded without it.
    if (!this.underWay.delete(call)) throw rolloutOver
    // A scripted policy that only says it is done made no call.
    const calls = response.message.toolCalls?.length ?? 0
    if (response.ended && calls === 0 && response.message.content === '') return response

    this.unrecovered = undefined
    this.answered = true
    ProviderHealth.of(model).answered()
    if (this.stopped === this.passing) this.stopped = undefined
    this.turns++
    const times = this.timesOf(atMs, response.timing?.waitMs ?? 0)
    const counted = this.believed(request, response)
    this.count(counted, times)
    this.checkSpent(response.finish)
    recorder.call(seat, prompt, response.message, answeredCall(asked, counted, times), response.tokens)
    return response
  }

  /** A reply as it is counted: a limit holds though a server does not say what was used, or says what cannot be. */
  private believed(request: ModelRequest, response: ModelResponse): ModelResponse {
    const { seat, limits, model } = this.options
    const limited = limits.tokens !== undefined || limits.costUsd !== undefined
    // What a script says is no model's work.
    if (seat !== 'agent' || !limited || model.id.startsWith('script:')) return response
    const usage = usageInPlaceOf(request, response)
    if (usage === undefined) return response
    const costUsd = model.costOf?.(usage) ?? null
    return {
      ...response,
      usage,
      ...(costUsd === null ? {} : { costUsd: Math.max(costUsd, response.costUsd ?? 0) }),
      flags: [...(response.flags ?? []), usageEstimated],
    }
  }

  async countTokens(request: ModelRequest, own: { signal?: AbortSignal } = {}): Promise<number | undefined> {
    const { model, signal, context, seat } = this.options
    signal.throwIfAborted()
    return model.countTokens?.(request, { ...context, seat, signal: own.signal ?? signal })
  }

  /** The agent did something else than to ask its model; its clock does not stand still for calls that wait. */
  worked(): void {
    this.clock.worked()
  }

  record(messages: readonly Message[], { costUsd }: { costUsd?: number } = {}): void {
    this.checkLimits(this.options.signal)
    this.turns++
    // What an agent spends by other means is not known here, unless it says.
    this.costUsd = addCost(this.costUsd, costUsd ?? null)
    this.recordPrompt(messages)
  }

  /** The node that messages end in. Throws a `SeatStop` where there is no room for them. */
  private recordPrompt(messages: readonly Message[], beside?: CallBeside): number {
    const { seat, recorder } = this.options
    try {
      return recorder.path(seat, messages, beside)
    } catch (thrown) {
      if (!isThrown(thrown, RecordFull)) throw thrown
      if (seat === 'agent') this.stopped = new SeatStop({ outcome: 'agent_error', stop: 'record_full' })
      else this.stopped = new SeatStop({ fault: saysTooMuch(seat) })
      throw this.stopped
    }
  }

  /** What was counted and recorded here, when this seat has a recorder of its own. */
  account(): SeatAccount {
    const { turns, usage, costUsd, modelMs, waitMs, retries, flags, stopped } = this
    const unrecovered = this.unrecovered ?? this.unanswered
    return {
      graph: this.options.recorder.graph(),
      turns,
      usage,
      costUsd,
      modelMs,
      waitMs,
      retries,
      flags: { ...flags },
      unrecovered,
      stopped: stopped && { outcome: stopped.outcome, fault: stopped.fault, stop: stopped.stop },
    }
  }

  /** Takes over what was counted and recorded for this seat elsewhere. */
  absorb(account: SeatAccount): void {
    this.options.recorder.absorb(account.graph)
    this.turns += account.turns
    this.usage = addUsage(this.usage, account.usage)
    this.costUsd = addCost(this.costUsd, account.costUsd)
    this.modelMs += account.modelMs
    this.waitMs += account.waitMs
    this.retries += account.retries
    for (const [flag, count] of Object.entries(account.flags))
      this.flags[flag] = (this.flags[flag] ?? 0) + count
    this.unrecovered = account.unrecovered
    if (account.stopped !== undefined) this.stopped ??= new SeatStop(account.stopped)
  }

  /** What a harness's own answer comes to, given the limits and faults that it may not have minded. */
  settle(result: HarnessResult): { result: HarnessResult; fault: Fault | undefined } {
    const { seat } = this.options
    const fault = this.unrecovered ?? this.unanswered ?? this.stopped?.fault
    if (fault !== undefined) return { result, fault }
    if (seat !== 'agent') return { result, fault: failureOfOtherSeat(seat, result) }
    const { outcome: limit, stop } = this.stopped ?? {}
    if (limit !== undefined && result.outcome !== 'env_done')
      return { result: { outcome: limit, ...(stop === undefined ? {} : { stop }) }, fault: undefined }
    return { result, fault: undefined }
  }

  /** Where nothing was ever answered, a refused body may be the run's own doing: its agent and its endpoint do not go together. */
  private get unanswered(): Fault | undefined {
    return this.answered ? undefined : this.rejected
  }

  private checkLimits(signal: AbortSignal): void {
    if (this.stopped !== undefined && this.stopped !== this.passing) throw this.stopped
    signal.throwIfAborted()
    const reached = this.budget.reached(this)
    if (reached === undefined) return
    const { seat } = this.options
    if (seat === 'agent') this.stopped = new SeatStop({ outcome: reached })
    else this.stopped = new SeatStop({ fault: tooManyTurns(seat, this.turns) })
    throw this.stopped
  }

  /** A limit on tokens that a reply went past, or was cut for, is the outcome though no call follows. */
  private checkSpent(finish?: Finish): void {
    if (this.options.seat === 'agent' && this.budget.spentBy(finish, this.usage))
      this.stopped ??= new SeatStop({ outcome: 'token_limit' })
  }

  private checkPrice(): void {
    const { limits, seat, model } = this.options
    if (seat !== 'agent' || limits.costUsd === undefined || this.costUsd !== null) return
    this.stopped = new SeatStop({ fault: priceUnknown(model) })
    throw this.stopped
  }

  private timesOf(
    atMs: number,
    waitMs: number,
    endMs = performance.now() - this.options.startedAt,
  ): CallTimes {
    return { atMs, latencyMs: endMs - atMs, waitMs }
  }

  private count(response: ModelResponse, { latencyMs, waitMs }: CallTimes): void {
    if (response.usage !== undefined) this.usage = addUsage(this.usage, response.usage)
    // A reply without a price is an unknown price, not a free reply; scripts say zero.
    this.costUsd = addCost(this.costUsd, response.costUsd ?? null)
    this.modelMs += Math.max(0, latencyMs - waitMs)
    this.waitMs += waitMs
    this.retries += response.retries?.length ?? 0
    for (const flag of response.flags ?? []) this.flag(flag)
  }

  /** Counts something worth knowing of the attempt. */
  flag(flag: string): void {
    this.flags[flag] = (this.flags[flag] ?? 0) + 1
  }

  /** Whether a body of a program's own may be why its provider failed on it, again and again. */
  private mayFailAlone(thrown: unknown, { request, failedAt }: CallUnderWay): boolean {
    if (this.options.seat !== 'agent' || request.wire === undefined || failedAt === undefined) return false
    if (!isThrown(thrown, ModelFault) || thrown.outcome !== undefined || thrown.rejected !== undefined)
      return false
    const { fault, retries } = thrown
    return fault.owner === 'provider' && retries.length > 1 && !overloads.test(fault.code)
  }

  /** Whether the provider has answered others since a call failed first; where there are none, we ask it a word. */
  private answersOthers({ failedAt }: CallUnderWay): Promise<boolean> {
    const { model, seat, signal } = this.options
    const messages: Message[] = [{ role: 'user', content: 'Say yes.' }]
    return ProviderHealth.of(model).answersSince(failedAt!, async () => {
      const { costUsd } = await model.generate(
        { messages, sampling: { maxTokens: 16 } },
        { ...this.options.context, seat, signal: AbortSignal.any([signal, AbortSignal.timeout(askMs)]) },
      )
      this.costUsd = addCost(this.costUsd, costUsd ?? null)
    })
  }

  private failed(
    thrown: unknown,
    call: CallUnderWay,
    signal: AbortSignal,
    { endMs, alone }: { endMs: number; alone: boolean },
  ): Error {
    const { seat } = this.options
    const error = thrown instanceof Error ? thrown : rolloutOver
    if (!this.underWay.delete(call)) return error
    // Nothing was asked of any model: what the program wants cannot be said to this one.
    if (isThrown(thrown, DialectError)) return thrown
    const retries = thrown instanceof ModelFault ? thrown.retries : []
    const waitMs = retries.reduce((sum, { tookMs, waitedMs }) => sum + tookMs + waitedMs, 0)
    const times = this.timesOf(call.atMs, waitMs, endMs)
    this.retries += retries.length
    this.waitMs += waitMs
    const record = (end: UnansweredEnd): void => this.recordUnanswered(call, times, { retries, ...end })
    if (signal.aborted || this.options.signal.aborted) {
      record(this.left(call))
      return error
    }
    const fault = faultOfCall(thrown, this.options)
    record({ fault, ...(alone ? { flags: [failedAlone] } : {}) })
    if (alone) {
      // Else an agent that does not like how it fared had only to send what its provider fails on to be tried anew.
      this.flag(failedAlone)
      this.unrecovered = undefined
      this.rejected ??= fault
      return new SeatStop({ fault })
    }
    if (thrown instanceof ModelFault && thrown.outcome !== undefined && seat === 'agent') {
      this.passing = new SeatStop({ outcome: thrown.outcome })
      this.stopped = this.passing
      return this.passing
    }
    if (thrown instanceof ModelFault && thrown.rejected !== undefined) {
      this.rejected ??= fault
      return new ModelFault(fault, { status: thrown.status, rejected: thrown.rejected })
    }
    this.unrecovered = fault
    return new SeatStop({ fault })
  }

  /**
   * The rollout is over: calls that are under way are recorded as they stand. Whoever asked for them has left, also where it
   * is the end that came first.
   */
  endCalls(): void {
    for (const call of this.underWay) {
      this.underWay.delete(call)
      this.recordUnanswered(call, this.timesOf(call.atMs, 0), { retries: [], ...this.left(call) })
    }
  }

  private recordUnanswered(
    { prompt, asked }: CallUnderWay,
    times: CallTimes,
    end: UnansweredEnd & { retries: RetryEntry[] },
  ): void {
    this.options.recorder.call(this.options.seat, prompt, undefined, unansweredCall(asked, times, end))
  }

  /**
   * The caller of one call left before its reply was whole. Leaving early is no way past a limit: whoever has read of it
   * has used a turn, and the tokens that were told. Nobody says any more how many there were and what they cost, so both
   * are estimated; a cost is so only where the price is known, and of a prompt that nobody has read the reply of, too.
   */
  private left({ request, told, idle }: CallUnderWay): UnansweredEnd {
    const { model } = this.options
    this.flag(clientLeft)
    const read = told.pieces > 0
    if (!read && (idle || model.priced !== true)) return { flags: [clientLeft] }
    const usage: Usage = { ...noUsage, fresh: guessedTokens(request), output: told.tokens }
    const costUsd = model.costOf?.(usage) ?? null
    this.costUsd = addCost(this.costUsd, costUsd)
    if (read) {
      this.turns++
      this.usage = addUsage(this.usage, usage)
      this.checkSpent()
    }
    this.flag(usageEstimated)
    return { flags: [clientLeft, usageEstimated], usage, costUsd }
  }
}

/** A call that no reply has come for yet. */
interface CallUnderWay {
  request: ModelRequest
  /** Node that ends its prompt. */
  prompt: number
  asked: CallAsked
  atMs: number
  /** `performance.now()` when a try of it first failed and another was to follow. */
  failedAt?: number
  /** What its caller was told of the reply. */
  told: ToldReply
  /** Nothing of it is asked right now: it queues, or its last try has failed. */
  idle: boolean
}

export interface SeatModelOptions {
  seat: Seat
  model: Model
  recorder: Recorder
  limits: ResolvedLimits
  sampling: Sampling
  /** Makes text free of secrets. */
  redact(text: string): string
  /** Opens the address of this seat at the run's gateway; absent where there is none. */
  address?: () => Promise<ModelAddress>
  /** Its program may tell the model of other tools than the seat's: they are recorded with each call. */
  ownTools?: boolean
  /** The agent's clock; other seats have none. */
  clock: SeatClock | undefined
  signal: AbortSignal
  /** `performance.now()` at the attempt's start. */
  startedAt: number
  context: { attempt: string; task: string; repeat: number }
}
