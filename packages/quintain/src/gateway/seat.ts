import {
  addCost,
  addUsage,
  type Fault,
  type HarnessResult,
  type Message,
  type Model,
  type ModelAddress,
  type ModelContext,
  ModelFault,
  type ModelHandle,
  type ModelRequest,
  type ModelResponse,
  noUsage,
  type Outcome,
  QuintainError,
  type ResolvedLimits,
  type Sampling,
  type Seat,
  type Usage,
} from '../core/index.ts'
import type { RecordedGraph, Recorder } from '../core/recorder.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { breathe } from './breathe.ts'

/** The end of a seat's part that its harness did not choose: a limit, or a model that gave no answer. */
export class SeatStop extends Error {
  override readonly name = 'SeatStop'
  readonly outcome: Exclude<Outcome, 'cancelled'> | undefined
  readonly fault: Fault | undefined

  constructor(end: { outcome?: Exclude<Outcome, 'cancelled'> | undefined; fault?: Fault | undefined }) {
    super(end.outcome ?? end.fault?.message ?? 'the rollout is over')
    this.outcome = end.outcome
    this.fault = end.fault
  }
}

/** Told to whatever of a rollout still runs when it is over. One for all: making an error costs more than a turn. */
export const rolloutOver = new SeatStop({})

/** Model calls of a seat other than the agent's, which no limit of the task bounds. */
const mostCallsOfOtherSeats = 1_000

/** The agent's own time, as the calls of its model move it. */
export interface SeatClock {
  pause(): void
  resume(): void
  /** Gives back time that turned out to be waiting. */
  credit(ms: number): void
}

/** What the calls of a seat came to, as plain data: what was recorded in one process, for the attempt in another. */
export interface SeatAccount {
  graph: RecordedGraph
  turns: number
  usage: Usage
  costUsd: number | null
  modelMs: number
  waitMs: number
  retries: number
  flags: Record<string, number>
  unrecovered: Fault | undefined
  stopped: { outcome?: Exclude<Outcome, 'cancelled'> | undefined; fault?: Fault | undefined } | undefined
}

/** What is said of one call. */
export interface CallOptions {
  /** Gives up this call alone. */
  signal?: AbortSignal
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
  /** The first limit that was reached; a harness that goes on regardless does not undo it. */
  stopped: SeatStop | undefined

  private readonly options: SeatModelOptions
  get id(): string {
    return this.options.model.id
  }

  address(): Promise<ModelAddress> {
    return this.options.address?.() ?? Promise.reject(noModel(this.options.seat))
  }

  /** Calls that queue or back off right now. */
  private waiting = 0

  constructor(options: SeatModelOptions) {
    this.options = options
  }

  async generate(request: ModelRequest, own: CallOptions = {}): Promise<ModelResponse> {
    const { seat, model, recorder, clock } = this.options
    const signal =
      own.signal === undefined ? this.options.signal : AbortSignal.any([this.options.signal, own.signal])
    this.checkLimits()
    await breathe()
    this.checkLimits()
    this.checkPrice()
    const sampling = this.samplingFor(request)
    const prompt = recorder.path(seat, request.messages)
    const atMs = performance.now() - this.options.startedAt
    const wait = { ms: 0, since: 0 }
    const context = {
      ...this.options.context,
      seat,
      signal,
      ...(own.onDelta === undefined ? {} : { onDelta: own.onDelta }),
      onWait: (waiting: boolean, why?: 'queue' | 'backoff') => {
        // A call whose try failed is a fault until one of its tries succeeds, whatever ends the rollout before.
        if (waiting && why === 'backoff') this.unrecovered = notYetRecovered(seat)
        if (waiting === wait.since > 0) return
        if (waiting) {
          wait.since = performance.now()
          this.waiting++
          clock?.pause()
        } else {
          wait.ms += performance.now() - wait.since
          wait.since = 0
          if (--this.waiting === 0) clock?.resume()
        }
      },
    }
    let response: ModelResponse
    try {
      response = await model.generate(
        {
          messages: request.messages,
          ...(request.tools ? { tools: request.tools } : {}),
          sampling,
          ...(request.wire ? { wire: request.wire } : {}),
        },
        context,
      )
    } catch (thrown) {
      context.onWait(false)
      throw this.failed(thrown, prompt, atMs, sampling)
    }
    context.onWait(false)
    signal.throwIfAborted()
    // A scripted policy that only says it is done made no call.
    const calls = response.message.toolCalls?.length ?? 0
    if (response.ended && calls === 0 && response.message.content === '') return response

    this.unrecovered = undefined
    this.turns++
    const latencyMs = performance.now() - this.options.startedAt - atMs
    const waitMs = response.timing?.waitMs ?? 0
    clock?.credit(waitMs - wait.ms)
    this.count(response, latencyMs, waitMs)
    recorder.call(
      seat,
      prompt,
      response.message,
      {
        model: response.model ?? model.id,
        ...(Object.keys(sampling).length === 0 ? {} : { sampling: { ...sampling } }),
        finish: response.finish,
        ...(response.finishRaw === undefined ? {} : { finishRaw: response.finishRaw }),
        ...(response.responseId === undefined ? {} : { responseId: response.responseId }),
        ...(response.usage === undefined ? {} : { usage: response.usage }),
        ...(response.costUsd === undefined ? {} : { costUsd: response.costUsd }),
        atMs: round(atMs),
        latencyMs: round(latencyMs),
        ...(response.timing?.firstByteMs === undefined
          ? {}
          : { firstByteMs: round(response.timing.firstByteMs) }),
        waitMs: round(waitMs),
        ...(response.retries?.length ? { retries: response.retries } : {}),
        ...(response.flags?.length ? { flags: response.flags } : {}),
        ...(response.policyVersion === undefined
          ? {}
          : {
              policySpans: [
                { start: 0, end: response.tokens?.outputIds?.length ?? 0, version: response.policyVersion },
              ],
            }),
      },
      response.tokens,
    )
    return response
  }

  record(messages: readonly Message[]): void {
    this.checkLimits()
    this.turns++
    // What an agent spends by other means is not known here.
    this.costUsd = null
    this.options.recorder.path(this.options.seat, messages)
  }

  /** What was counted and recorded here, when this seat has a recorder of its own. */
  account(): SeatAccount {
    const { turns, usage, costUsd, modelMs, waitMs, retries, flags, unrecovered, stopped } = this
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
      stopped: stopped && { outcome: stopped.outcome, fault: stopped.fault },
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
    const { seat, limits } = this.options
    const fault = this.unrecovered ?? this.stopped?.fault
    if (fault !== undefined) return { result, fault }
    if (seat !== 'agent') return { result, fault: this.failureOfOtherSeat(result) }
    const limit = this.stopped?.outcome
    if (limit !== undefined && result.outcome !== 'env_done')
      return { result: { outcome: limit }, fault: undefined }
    // The last tokens of the budget went into a reply that was cut for it.
    if (result.outcome === 'truncated' && this.usage.output >= (limits.tokens ?? Infinity))
      return { result: { outcome: 'token_limit' }, fault: undefined }
    return { result, fault: undefined }
  }

  /** A simulated user or an opponent that breaks off is a fault; it says nothing of the agent. */
  private failureOfOtherSeat({ outcome, stop }: HarnessResult): Fault | undefined {
    if (outcome === 'completed' || outcome === 'env_done') return undefined
    const message = `the part of seat "${this.options.seat}" ended as ${outcome}${stop === undefined ? '' : ` (${stop})`}`
    return { owner: 'simulator', stage: 'model', code: outcome, message, retryable: true }
  }

  private checkLimits(): void {
    if (this.stopped !== undefined) throw this.stopped
    this.options.signal.throwIfAborted()
    const { limits, seat } = this.options
    if (seat !== 'agent') {
      if (this.turns < mostCallsOfOtherSeats) return
      const message = `seat "${seat}" made ${this.turns} model calls in one rollout`
      this.stopped = new SeatStop({
        fault: { owner: 'simulator', stage: 'model', code: 'too_many_turns', message, retryable: true },
      })
      throw this.stopped
    }
    const reached: Exclude<Outcome, 'cancelled'> | undefined =
      this.turns >= (limits.turns ?? Infinity)
        ? 'turn_limit'
        : this.usage.output >= (limits.tokens ?? Infinity)
          ? 'token_limit'
          : (this.costUsd ?? 0) >= (limits.costUsd ?? Infinity)
            ? 'cost_limit'
            : undefined
    if (reached !== undefined) {
      this.stopped = new SeatStop({ outcome: reached })
      throw this.stopped
    }
  }

  /** A limit on what has no price would be no limit. */
  private checkPrice(): void {
    const { limits, seat, model } = this.options
    if (seat === 'agent' && limits.costUsd !== undefined && this.costUsd === null) {
      const message = `limit costUsd cannot be kept: the price of ${model.id} is unknown; give it a price, or lift the limit with costUsd: Infinity`
      this.stopped = new SeatStop({
        fault: { owner: 'platform', stage: 'model', code: 'price_unknown', message, retryable: false },
      })
      throw this.stopped
    }
  }

  /** Settings to send: the run's, the harness's over them, and never more tokens than the budget still holds. */
  private samplingFor(request: ModelRequest): Sampling {
    const sampling: Sampling = { ...this.options.sampling, ...request.sampling }
    const { tokens } = this.options.limits
    if (tokens !== undefined && this.options.seat === 'agent') {
      const left = tokens - this.usage.output
      sampling.maxTokens = Math.min(sampling.maxTokens ?? left, left)
    }
    return sampling
  }

  private count(response: ModelResponse, latencyMs: number, waitMs: number): void {
    if (response.usage !== undefined) this.usage = addUsage(this.usage, response.usage)
    // A reply without a price is an unknown price, not a free reply; scripts say zero.
    this.costUsd = addCost(this.costUsd, response.costUsd ?? null)
    this.modelMs += Math.max(0, latencyMs - waitMs)
    this.waitMs += waitMs
    this.retries += response.retries?.length ?? 0
    for (const flag of response.flags ?? []) this.flags[flag] = (this.flags[flag] ?? 0) + 1
  }

  private failed(thrown: unknown, prompt: number, atMs: number, sampling: Sampling): Error {
    const { seat, model, recorder, signal } = this.options
    if (signal.aborted) return thrown instanceof Error ? thrown : rolloutOver
    const retries = thrown instanceof ModelFault ? thrown.retries : []
    const latencyMs = performance.now() - this.options.startedAt - atMs
    const waitMs = retries.reduce((sum, { tookMs, waitedMs }) => sum + tookMs + waitedMs, 0)
    this.retries += retries.length
    this.waitMs += waitMs
    const fault = this.faultOf(thrown)
    recorder.call(seat, prompt, undefined, {
      model: model.id,
      ...(Object.keys(sampling).length === 0 ? {} : { sampling: { ...sampling } }),
      atMs: round(atMs),
      latencyMs: round(latencyMs),
      waitMs: round(waitMs),
      ...(retries.length > 0 ? { retries } : {}),
      fault,
    })
    if (thrown instanceof ModelFault && thrown.outcome !== undefined && seat === 'agent') {
      this.stopped = new SeatStop({ outcome: thrown.outcome })
      return this.stopped
    }
    this.unrecovered = fault
    return new SeatStop({ fault })
  }

  /** Whose fault a failed call is, in words without secrets: scripts know the secret, and providers quote keys. */
  private faultOf(thrown: unknown): Fault {
    const { seat, model, redact } = this.options
    const fault: Fault =
      thrown instanceof ModelFault
        ? { ...thrown.fault, message: redactedMessage(redact, thrown) }
        : {
            owner: 'platform',
            stage: 'model',
            code: 'client_threw',
            message: `the client of ${model.id} threw: ${redactedMessage(redact, thrown)}`,
            retryable: false,
          }
    // What fails behind a simulated user or an opponent is never booked with the agent's own provider.
    return seat === 'agent' ? fault : { ...fault, owner: 'simulator' }
  }
}

function noModel(seat: Seat): QuintainError {
  return new QuintainError(
    'needs_unmet',
    `The agent in seat "${seat}" asked for a model, and this run gives it none; say which (model: 'NAME', or -m NAME).`,
  )
}

function notYetRecovered(seat: Seat): Fault {
  return {
    owner: seat === 'agent' ? 'provider' : 'simulator',
    stage: 'model',
    code: 'unrecovered',
    message: 'a model call had failed and was being tried again when the rollout ended',
    retryable: true,
  }
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
  /** The agent's clock; other seats have none. */
  clock: SeatClock | undefined
  signal: AbortSignal
  /** `performance.now()` at the attempt's start. */
  startedAt: number
  context: { attempt: string; task: string; repeat: number }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
