import {
  type Message,
  type Model,
  type ModelContext,
  ModelFault,
  type ModelRequest,
  type ModelResponse,
  type ReplyDelta,
  type ResolvedLimits,
  type Sampling,
} from '../../core/index.ts'
import type { RecordRoom } from '../../core/record-room.ts'
import { Recorder } from '../../core/recorder.ts'
import { cancelled } from '../../models/fault.ts'
import { type SeatClock, SeatModel } from '../seat.ts'

/** A call of a model that answers when a test says so. */
export interface HeldCall {
  readonly request: ModelRequest
  readonly context: ModelContext
  tell(delta: ReplyDelta): void | Promise<void>
  answer(text: string, more?: Partial<ModelResponse>): void
  fail(fault?: ModelFault): void
}

/** A model whose calls wait, or answer at once with what `reply` gives. A call whose signal is aborted is cancelled. */
export class HeldModel implements Model {
  readonly id = 'openai-compatible:held'
  readonly calls: HeldCall[] = []
  private readonly reply: ((call: HeldCall) => void) | undefined
  private arrived: (() => void)[] = []

  constructor(reply?: (call: HeldCall) => void) {
    this.reply = reply
  }

  generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
    return new Promise((resolve, reject) => {
      context.signal.addEventListener('abort', () => reject(cancelled()), { once: true })
      const call: HeldCall = {
        request,
        context,
        tell: (delta) => context.onDelta?.(delta),
        answer: (text, more = {}) => resolve({ ...answerOf(text), ...more }),
        fail: (fault = providerFault('http_500')) => reject(fault),
      }
      this.calls.push(call)
      for (const wake of this.arrived.splice(0)) wake()
      this.reply?.(call)
    })
  }

  /** The call of an index, once it has come. */
  async call(index: number): Promise<HeldCall> {
    while (this.calls.length <= index) await new Promise<void>((resolve) => this.arrived.push(resolve))
    return this.calls[index]!
  }
}

export function answerOf(text: string): ModelResponse {
  return {
    message: { role: 'assistant', content: text },
    finish: 'stop',
    usage: { fresh: 10, cacheRead: 0, cacheWrite: 0, output: 5 },
    costUsd: 0.01,
    timing: { totalMs: 1, waitMs: 0 },
  }
}

export function providerFault(
  code: string,
  outcome?: 'context_overflow' | 'refused',
  message = 'it is down',
): ModelFault {
  return new ModelFault({ owner: 'provider', stage: 'model', code, message, retryable: true }, { outcome })
}

export interface HeldSeat {
  seat: SeatModel
  recorder: Recorder
  /** Ends the attempt. */
  over: AbortController
}

export function seatOf(
  model: Model,
  options: {
    limits?: ResolvedLimits
    sampling?: Sampling
    clock?: SeatClock
    seat?: string
    room?: RecordRoom
  } = {},
): HeldSeat {
  const { room } = options
  const recorder = new Recorder(room === undefined ? {} : { room })
  const over = new AbortController()
  const seat = new SeatModel({
    seat: options.seat ?? 'agent',
    model,
    recorder,
    limits: options.limits ?? {},
    sampling: options.sampling ?? {},
    redact: (text) => text,
    clock: options.clock,
    signal: over.signal,
    startedAt: performance.now(),
    context: { attempt: 'a', task: 't', repeat: 0 },
  })
  return { seat, recorder, over }
}

export function says(text: string): Message[] {
  return [{ role: 'user', content: text }]
}
