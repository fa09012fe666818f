import {
  type AssistantMessage,
  type Box,
  type Content,
  createRng,
  type Harness,
  type HarnessContext,
  type HarnessResult,
  type Model,
  type ModelAddress,
  type ModelHandle,
  type Seat,
  stackOf,
} from '../core/index.ts'
import { clearTimeout, setTimeout } from '../core/own-time.ts'
import { type RecordRoom, RecordRooms } from '../core/record-room.ts'
import { Recorder } from '../core/recorder.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { type Lease, rolloutOver, SeatModel } from '../gateway/index.ts'
import { absentModel } from './absent-model.ts'
import { checkedResult, failureOf } from './harness-end.ts'
import {
  type BoxOf,
  noPlay,
  type PlayEnd,
  type PlayFailure,
  type PlayStart,
  playGraceMs,
  type SeatPlayers,
  type WorldSide,
} from './play.ts'
import { policyName, samplingOf } from './policy.ts'
import type { HostSpec, Job } from './protocol.ts'
import { hideKeys } from './redact.ts'
import { guardRollout } from './rollout-guard.ts'
import type { RunGateway } from './run-gateway.ts'
import { abortReason } from './step.ts'

export interface OutsidePlayerOptions {
  /** Who plays, by seat. */
  harnesses: ReadonlyMap<Seat, Harness>
  spec: HostSpec
  /** The models behind seats that have one. */
  models: ReadonlyMap<Seat, Model>
  gateway: RunGateway
  log(text: string): void
  /** For what is held of attempts until they are over; in proportion to the heap when absent. */
  rooms?: RecordRooms
}

/** Plays the seats of a run whose harness runs in the main process, each attempt with a model, a recorder and a lease of its own. */
export class OutsidePlayer implements SeatPlayers {
  private readonly options: OutsidePlayerOptions
  private readonly rooms: RecordRooms

  constructor(options: OutsidePlayerOptions) {
    this.options = options
    this.rooms = options.rooms ?? new RecordRooms()
  }

  plays(seat: Seat): boolean {
    return this.options.harnesses.has(seat)
  }

  async play(job: Job, start: PlayStart, side: WorldSide, boxOf: BoxOf): Promise<PlayEnd> {
    const room = this.rooms.open()
    try {
      return await new Play(this.options, { job, start, side, boxOf, room }).run()
    } catch (thrown) {
      this.options.log(`${hideKeys(stackOf(thrown))}\n`)
      return noPlay('play_threw', `the seat could not be played: ${redactedMessage(hideKeys, thrown)}`)
    } finally {
      room.close()
    }
  }

  close(): Promise<void> {
    return this.options.gateway.close()
  }
}

interface PlayOptions {
  job: Job
  start: PlayStart
  side: WorldSide
  boxOf: BoxOf
  room: RecordRoom
}

/** One seat of one attempt. */
class Play {
  private readonly options: OutsidePlayerOptions
  private readonly job: Job
  private readonly start: PlayStart
  private readonly side: WorldSide
  private readonly box: Box | undefined
  private readonly over = new AbortController()
  private readonly recorder: Recorder
  private readonly room: RecordRoom
  private readonly seat: SeatModel
  private lease: Promise<Lease> | undefined
  /** What the agent said at the end of a conversation that it recorded itself, until the world has heard it. */
  private said: Content | undefined

  constructor(options: OutsidePlayerOptions, { job, start, side, boxOf, room }: PlayOptions) {
    this.options = options
    this.room = room
    this.recorder = new Recorder({ room })
    this.job = job
    this.start = start
    this.side = side
    this.box = boxOf(this.over.signal)
    const { spec, models } = options
    const policy = spec.seats[start.seat]!
    const id = policyName(policy)
    const model =
      policy.kind === 'agent'
        ? absentModel(id)
        : policy.kind === 'model'
          ? models.get(start.seat)!
          : worldModel(id, side)
    this.seat = new SeatModel({
      seat: start.seat,
      model,
      recorder: this.recorder,
      limits: start.limits,
      sampling: policy.kind === 'model' ? samplingOf(job.sampling ?? spec.sampling, job.order) : {},
      redact: hideKeys,
      clock: {
        pause: () => side.clock({ held: true }),
        resume: () => side.clock({ held: false }),
        credit: (creditMs) => side.clock({ creditMs }),
      },
      signal: this.over.signal,
      startedAt: performance.now() - start.elapsedMs,
      context: { attempt: start.attempt, task: job.order.task, repeat: job.order.repeat },
      ...(policy.kind === 'agent' ? {} : { address: () => this.address() }),
    })
  }

  async run(): Promise<PlayEnd> {
    const { side } = this
    const given = this.ended().catch((thrown: unknown) => ({ thrown: failureOf(thrown, side.signal) }))
    const end = await this.untilOver(given)
    this.seat.endCalls()
    const account = this.seat.account()
    this.seat.stopped ??= rolloutOver
    this.over.abort(abortReason)
    void this.lease?.then(
      (lease) => lease.close(),
      () => {},
    )
    return { ...end, account }
  }

  private async ended(): Promise<{ result: HarnessResult }> {
    const { harness } = this
    const given: unknown = await guardRollout(() => harness.run(this.context()))
    return { result: checkedResult(given, harness.name, this.said) }
  }

  private get harness(): Harness {
    return this.options.harnesses.get(this.start.seat)!
  }

  /** What the play came to, or, a while after the attempt is over, that it is. */
  private untilOver<End>(given: Promise<End>): Promise<End | { thrown: PlayFailure }> {
    const { signal } = this.side
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const stop = () => {
        this.over.abort(abortReason)
        timer = setTimeout(() => {
          const { harness, start } = this
          this.options.log(`${harness.name} did not end with attempt ${start.attempt}; it is left alone\n`)
          resolve({ thrown: { by: 'over' } })
        }, playGraceMs)
      }
      void given.then((end) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        resolve(end)
      })
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })
  }

  private context(): HarnessContext {
    const { start, side, box, job } = this
    const { spec } = this.options
    const whileOn = <T>(run: () => Promise<T>): Promise<T> => {
      // At a limit as well: the world does not know of it yet.
      const stop = this.over.signal.aborted ? rolloutOver : this.seat.stopped
      if (stop !== undefined) return Promise.reject(stop)
      this.seat.worked()
      return run()
    }
    return {
      task: start.task,
      seat: start.seat,
      messages: start.messages,
      tools: {
        specs: start.tools,
        run: (calls, { truncated, content }) => whileOn(() => side.tools(calls, truncated, content)),
      },
      model: this.handle(),
      ...(start.replies
        ? {
            reply: (said: Content) =>
              whileOn(() => {
                this.said = undefined
                return side.reply(said)
              }),
          }
        : {}),
      endpoints: start.endpoints,
      limits: start.limits,
      ...(box === undefined ? {} : { box }),
      flag: (name) => this.seat.flag(name),
      signal: this.over.signal,
      rng: createRng(`${spec.seed}/agent/${job.order.seed}`).fork(`seat/${start.seat}`),
    }
  }

  /** The seat's model without what counts and limits it: the harness may be anybody's code. */
  private handle(): ModelHandle {
    const { seat } = this
    return {
      id: seat.id,
      present: this.options.spec.seats[this.start.seat]?.kind !== 'agent',
      generate: (request, { signal, onDelta } = {}) =>
        seat.generate(request, {
          ...(signal === undefined ? {} : { signal }),
          ...(onDelta === undefined ? {} : { onDelta }),
        }),
      countTokens: (request, options) => seat.countTokens(request, options),
      record: (messages, options) => {
        seat.record(messages, options)
        const last = messages.at(-1)
        this.said = last?.role === 'assistant' ? last.content : undefined
      },
      address: () => seat.address(),
      get turns() {
        return seat.turns
      },
      lastReply: () => this.lastReply(),
    }
  }

  private lastReply(): AssistantMessage | undefined {
    const { calls, nodes } = this.recorder
    const last = nodes[calls.findLast(({ output }) => output >= 0)?.output ?? -1]?.message
    return last?.role === 'assistant' ? last : undefined
  }

  private async address(): Promise<ModelAddress> {
    this.over.signal.throwIfAborted()
    this.lease ??= this.openLease()
    return this.lease
  }

  private async openLease(): Promise<Lease> {
    try {
      const gateway = await this.options.gateway.get()
      return gateway.open({ seat: this.seat, redact: hideKeys, signal: this.over.signal, room: this.room })
    } catch (thrown) {
      this.lease = undefined
      throw thrown
    }
  }
}

/** A policy that runs beside the secret, asked from here. */
function worldModel(id: string, side: WorldSide): Model {
  return { id, generate: ({ wire: _, ...request }, { signal }) => side.generate(request, signal) }
}
