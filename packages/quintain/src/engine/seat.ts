import {
  addCost,
  addUsage,
  type Fault,
  type HarnessResult,
  type Message,
  type Model,
  ModelFault,
  type ModelHandle,
  type ModelRequest,
  type ModelResponse,
  noUsage,
  type Outcome,
  type ResolvedLimits,
  type Sampling,
  type Seat,
  type Usage,
} from '../core/index.ts'
import type { AgentClock } from './agent-clock.ts'
import type { Recorder } from './recorder.ts'

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

/** Model calls of a seat other than the agent's, which no limit of the task bounds. */
const mostCallsOfOtherSeats = 1_000

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

  constructor(options: SeatModelOptions) {
    this.options = options
  }

  async generate(request: ModelRequest): Promise<ModelResponse> {
    const { seat, model, recorder, clock, signal } = this.options
    this.checkLimits()
    const sampling = this.samplingFor(request)
    const prompt = recorder.path(seat, request.messages)
    const atMs = performance.now() - this.options.startedAt
    const wait = { ms: 0, since: 0 }
    const context = {
      ...this.options.context,
      seat,
      signal,
      onWait: (waiting: boolean) => {
        if (waiting) {
          wait.since = performance.now()
          clock?.pause()
        } else if (wait.since > 0) {
          wait.ms += performance.now() - wait.since
          wait.since = 0
          clock?.resume()
        }
      },
    }
    let response: ModelResponse
    try {
      response = await model.generate(
        { messages: request.messages, ...(request.tools ? { tools: request.tools } : {}), sampling },
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
    this.options.recorder.path(this.options.seat, messages)
  }

  /** What a harness's own answer comes to, given the limits and faults that it may not have minded. */
  settle(result: HarnessResult): { result: HarnessResult; fault: Fault | undefined } {
    if (this.unrecovered !== undefined) return { result, fault: this.unrecovered }
    const limit = this.stopped?.outcome
    if (limit !== undefined && result.outcome === 'completed')
      return { result: { outcome: limit }, fault: undefined }
    return { result, fault: undefined }
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
    const { seat, model, recorder } = this.options
    if (!(thrown instanceof ModelFault)) return thrown as Error
    if (this.options.signal.aborted) return thrown
    const latencyMs = performance.now() - this.options.startedAt - atMs
    const waitMs = thrown.retries.reduce((sum, entry) => sum + entry.waitedMs, 0)
    this.retries += thrown.retries.length
    this.waitMs += waitMs
    const fault = seat === 'agent' || thrown.fault.owner !== 'provider' ? thrown.fault : { ...thrown.fault }
    recorder.call(seat, prompt, undefined, {
      model: model.id,
      ...(Object.keys(sampling).length === 0 ? {} : { sampling: { ...sampling } }),
      atMs: round(atMs),
      latencyMs: round(latencyMs),
      waitMs: round(waitMs),
      ...(thrown.retries.length > 0 ? { retries: thrown.retries } : {}),
      fault,
    })
    if (thrown.outcome !== undefined && seat === 'agent') {
      this.stopped = new SeatStop({ outcome: thrown.outcome })
      return this.stopped
    }
    this.unrecovered = fault
    return new SeatStop({ fault })
  }
}

export interface SeatModelOptions {
  seat: Seat
  model: Model
  recorder: Recorder
  limits: ResolvedLimits
  sampling: Sampling
  /** The agent's clock; other seats have none. */
  clock: AgentClock | undefined
  signal: AbortSignal
  /** `performance.now()` at the attempt's start. */
  startedAt: number
  context: { attempt: string; task: string; repeat: number }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
