import {
  type Harness,
  type HarnessContext,
  type HarnessResult,
  type Model,
  type ModelContext,
  ModelFault,
  type Seat,
  type Turn,
} from '../core/index.ts'
import { now } from '../core/own-time.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { rolloutOver, type SeatModel } from '../gateway/index.ts'
import type { AgentClock } from './agent-clock.ts'
import { turnOf } from './given.ts'
import type { ClockMove, PlayEnd, PlayFailure, PlayStart, WorldSide } from './play.ts'
import { StepFailure } from './step.ts'

/** A harness in the main process, as the attempt knows it. */
export interface OutsideSeat {
  /** For the records. */
  name: string
  /** The run gives the agent a model or a policy. */
  hasModel: boolean
  /** The policy has to run here, beside the secret. */
  modelIsHere: boolean
  play(start: PlayStart, side: WorldSide): Promise<PlayEnd>
}

export interface OutsideHarnessOptions {
  outside: OutsideSeat
  seat: Seat
  /** Takes over what was counted and recorded outside. */
  account: SeatModel
  /** The policy behind the seat; asked only where it has to run here. */
  model: Model
  clock: AgentClock | undefined
  attempt: string
  context: Pick<ModelContext, 'task' | 'repeat'>
  /** `now()` at the attempt's start. */
  startedAt: number
  /** Makes text free of secrets. */
  redact(text: string): string
  /** The same for what is said outside, where nobody knows them. */
  redactSaid(text: string): string
  /** The attempt waits for nothing of this seat any more. */
  isClosed(): boolean
}

/** The world's side of a seat that is played from outside: it stands in the place of the harness, and hands it the world. */
export function outsideHarness(options: OutsideHarnessOptions): Harness {
  const { outside, account, redactSaid } = options
  return {
    name: outside.name,
    // Looked at before the run began.
    carries: { turns: true, tools: true, images: true },
    runs: 'outside',
    async run(context): Promise<HarnessResult> {
      const time = new SeatTime(options.clock)
      const end = await outside.play(startOf(options, context), sideOf(options, context, time))
      time.move({ held: false })
      // What comes too late changes no record.
      if (options.isClosed()) throw rolloutOver
      account.absorb(end.account)
      if (end.thrown !== undefined) throw errorOf(end.thrown, options)
      const { stop } = end.result
      return {
        ...end.result,
        ...(stop === undefined ? {} : { stop: redactedMessage(redactSaid, stop, 200) }),
      }
    },
  }
}

function startOf({ seat, attempt, startedAt }: OutsideHarnessOptions, context: HarnessContext): PlayStart {
  const { task, messages, tools, endpoints, limits, reply } = context
  return {
    seat,
    attempt,
    task,
    messages,
    tools: tools.specs,
    endpoints,
    limits,
    replies: reply !== undefined,
    elapsedMs: now() - startedAt,
  }
}

function sideOf(
  options: OutsideHarnessOptions,
  { tools, reply, signal }: HarnessContext,
  time: SeatTime,
): WorldSide {
  const { model, seat, attempt, context, outside, redact } = options
  return {
    signal,
    clock: (move) => time.move(move),
    tools: (calls, truncated, content) =>
      time
        .asked(() => tools.run(calls, { truncated, ...(content === undefined ? {} : { content }) }))
        .catch(endUntold),
    reply: (content) =>
      reply === undefined
        ? Promise.reject(rolloutOver)
        : time.asked(() => reply(content)).then(withoutReward, endUntold),
    async generate(request, own) {
      if (!outside.modelIsHere) throw rolloutOver
      try {
        return await model.generate(request, {
          ...context,
          attempt,
          seat,
          signal: AbortSignal.any([signal, own]),
        })
      } catch (thrown) {
        throw withoutSecret(thrown, redact)
      }
    },
  }
}

/** What a step is worth is no harness's business. */
function withoutReward({ content, done, next }: Turn): Turn {
  return turnOf(content, done, next)
}

/** Why the world breaks off is for the attempt's records; a harness has only to stop. */
function endUntold(): never {
  throw rolloutOver
}

/** What a policy that knows the secret throws, fit to be told to a harness that must not. */
function withoutSecret(thrown: unknown, redact: (text: string) => string): ModelFault {
  const message = redactedMessage(redact, thrown)
  if (!(thrown instanceof ModelFault))
    return new ModelFault({
      owner: 'platform',
      stage: 'model',
      code: 'client_threw',
      message,
      retryable: false,
    })
  const { fault, outcome, retries } = thrown
  return new ModelFault({ ...fault, message }, { outcome, retries })
}

/** The agent's clock as whoever plays its seat moves it, however often it is told the same. */
class SeatTime {
  private readonly clock: AgentClock | undefined
  private held = false
  private whileAsked = false

  constructor(clock: AgentClock | undefined) {
    this.clock = clock
  }

  move(move: ClockMove): void {
    if ('creditMs' in move) this.clock?.credit(move.creditMs)
    else if ('held' in move) this.hold(move.held)
    else {
      this.whileAsked = true
      this.hold(true)
    }
  }

  /** Asks the world for something. */
  asked<T>(run: () => Promise<T>): Promise<T> {
    if (!this.whileAsked) return run()
    this.hold(false)
    const answer = run()
    answer.then(this.halt, this.halt)
    return answer
  }

  private readonly halt = () => this.hold(true)

  private hold(held: boolean): void {
    if (held === this.held) return
    this.held = held
    if (held) this.clock?.hold()
    else this.clock?.letGo()
  }
}

function errorOf(thrown: PlayFailure, { account, redactSaid }: OutsideHarnessOptions): Error {
  switch (thrown.by) {
    case 'over':
      return account.stopped ?? rolloutOver
    case 'fault':
      return new StepFailure(
        { ...thrown.fault, message: redactedMessage(redactSaid, thrown.fault.message) },
        thrown.text,
      )
    case 'agent':
      return Object.assign(new Error(thrown.message), { stack: thrown.stack })
  }
}
