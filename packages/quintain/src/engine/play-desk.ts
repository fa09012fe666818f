import { type Box, FaultError, ModelFault, type ModelRequest } from '../core/index.ts'
import { rolloutOver } from '../gateway/index.ts'
import { boxOwner } from './box-protocol.ts'
import { type BoxOf, noPlay, type SeatPlayers, type WorldSide } from './play.ts'
import { readPlayStart, readReply, readToolRun, readTurn } from './play-answers.ts'
import type { Job, PlayAnswerMessage, PlayAsk, PlayMessage, ToWorker } from './protocol.ts'
import { abortReason } from './step.ts'

/** Questions of one worker that wait for answers, above which what it is told is told in batches. */
const manyAsked = 32

interface OpenPlay {
  readonly owner: string
  readonly over: AbortController
}

interface Waiting {
  readonly play: number
  resolve(value: unknown): void
  reject(error: Error): void
}

export interface PlayDeskOptions {
  player: SeatPlayers
  /** `patient`: the message may wait a little for others. */
  send(message: ToWorker, how?: { patient: boolean }): void
  /** The world's box of an attempt, as its agent may use it. */
  boxOf(owner: string, signal: AbortSignal): Box | undefined
  log(text: string): void
}

/**
 * Plays the seats of one worker's attempts whose harness runs here. Nothing that the worker says is believed: it may
 * begin a seat for attempts that run on it, once each, and what it answers is looked at before a harness sees it.
 */
export class PlayDesk {
  private readonly options: PlayDeskOptions
  private readonly jobs = new Map<string, Job>()
  private readonly plays = new Map<number, OpenPlay>()
  private readonly waiting = new Map<number, Waiting>()
  /** Seats that have begun, by attempt. */
  private readonly begun = new Map<string, Set<string>>()
  private nextAsk = 1

  constructor(options: PlayDeskOptions) {
    this.options = options
  }

  /**
   * So many wait for answers that a message may wait a little for others: each by itself would cost both processes a turn,
   * and a little longer is nothing beside how long they wait.
   */
  get busy(): boolean {
    return this.waiting.size > manyAsked
  }

  /** An attempt runs on the worker from now on. */
  expect(job: Job): void {
    this.jobs.set(boxOwner(job), job)
  }

  /** An attempt is over, whatever of it still plays. */
  end(job: Job): void {
    const owner = boxOwner(job)
    this.jobs.delete(owner)
    this.begun.delete(owner)
    for (const [number, play] of this.plays) if (play.owner === owner) this.abort(number)
  }

  /** The worker is gone. */
  endAll(): void {
    this.jobs.clear()
    this.begun.clear()
    for (const number of this.plays.keys()) this.abort(number)
  }

  begin({ play: number, owner, start: given }: PlayMessage): void {
    const job = this.jobs.get(owner)
    if (job === undefined || this.plays.has(number)) {
      this.options.log('left aside: the worker began a play that is none of its attempts\n')
      return
    }
    const start = readPlayStart(given)
    const begun = this.begun.get(owner) ?? new Set()
    if (start === undefined || !this.options.player.plays(start.seat) || begun.has(start.seat)) {
      // Whoever waits for it is told.
      const end = noPlay('bad_output', 'what the worker process said of the seat to play is not whole')
      this.send({ t: 'play-end', play: number, end })
      return
    }
    this.begun.set(owner, begun.add(start.seat))
    const over = new AbortController()
    this.plays.set(number, { owner, over })
    const side = this.sideOf(number, over.signal)
    const boxOf: BoxOf = (signal) => this.options.boxOf(owner, signal)
    void this.options.player.play(job, start, side, boxOf).then((end) => {
      this.plays.delete(number)
      this.refuseAsks(number)
      this.send({ t: 'play-end', play: number, end })
    })
  }

  answered({ ask, value, failure, over }: PlayAnswerMessage): void {
    const waiting = this.waiting.get(ask)
    if (!this.waiting.delete(ask)) return
    if (failure !== undefined) {
      const { fault, outcome, retries } = failure
      waiting?.reject(new ModelFault(fault, { outcome, retries }))
    } else if (over === true) waiting?.reject(rolloutOver)
    else waiting?.resolve(value)
  }

  /** The attempt is over; its harness is told, and given a while. */
  abort(number: number): void {
    this.plays.get(number)?.over.abort(abortReason)
    this.refuseAsks(number)
  }

  private send(message: ToWorker): void {
    this.options.send(message, { patient: this.busy })
  }

  private refuseAsks(number: number): void {
    for (const [ask, { play, reject }] of this.waiting) {
      if (play !== number) continue
      this.waiting.delete(ask)
      reject(rolloutOver)
    }
  }

  private sideOf(play: number, signal: AbortSignal): WorldSide {
    return {
      signal,
      clock: (move) => this.send({ t: 'play-clock', play, move }),
      tools: async (calls, truncated, content) =>
        whole(
          readToolRun(
            await this.ask(play, {
              op: 'tools',
              calls,
              truncated,
              ...(content === undefined ? {} : { content }),
            }),
          ),
          'results of tools',
        ),
      reply: async (content) => whole(readTurn(await this.ask(play, { op: 'reply', content })), 'a turn'),
      generate: async (request, own) => whole(readReply(await this.generate(play, request, own)), 'a reply'),
    }
  }

  private async generate(play: number, request: ModelRequest, signal: AbortSignal): Promise<unknown> {
    const ask = this.nextAsk
    const abort = () => this.options.send({ t: 'play-ask-abort', ask })
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await this.ask(play, { op: 'generate', request })
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private ask(play: number, what: PlayAsk): Promise<unknown> {
    if (!this.plays.has(play)) return Promise.reject(rolloutOver)
    return new Promise((resolve, reject) => {
      const ask = this.nextAsk++
      this.waiting.set(ask, { play, resolve, reject })
      this.send({ t: 'play-ask', play, ask, what })
    })
  }
}

function whole<T>(value: T | undefined, what: string): T {
  if (value !== undefined) return value
  const message = `the worker process did not answer with ${what}`
  throw new FaultError({ owner: 'platform', code: 'bad_output', message, retryable: false })
}
