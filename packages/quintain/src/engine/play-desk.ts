import { type Box, FaultError, ModelFault, type ModelRequest, type Turn } from '../core/index.ts'
import { rolloutOver } from '../gateway/index.ts'
import { boxOwner } from './box-protocol.ts'
import { type BoxOf, noPlay, type SeatPlayers, type WorldSide } from './play.ts'
import { readPlayStart, readReply, readToolRun, readTurn } from './play-answers.ts'
import type { Job, PlayAnswerMessage, PlayAsk, PlayMessage, ToWorker } from './protocol.ts'
import { abortReason } from './step.ts'

/** Questions of one worker that wait for answers, above which what it is told is told in batches. */
const manyAsked = 32

interface OpenPlay {
  readonly over: AbortController
  /** How many of its questions wait for answers. */
  asking: number
}

interface Waiting {
  readonly play: OpenPlay
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
  /** Plays that have begun, by attempt and seat. */
  private readonly begun = new Map<string, Map<string, number>>()
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
    for (const number of this.begun.get(owner)?.values() ?? []) this.abort(number)
    this.begun.delete(owner)
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
    const begun = this.begun.get(owner) ?? new Map<string, number>()
    if (start === undefined || !this.options.player.plays(start.seat) || begun.has(start.seat)) {
      // Whoever waits for it is told.
      const end = noPlay('bad_output', 'what the worker process said of the seat to play is not whole')
      this.send({ t: 'play-end', play: number, end })
      return
    }
    this.begun.set(owner, begun.set(start.seat, number))
    const play: OpenPlay = { over: new AbortController(), asking: 0 }
    this.plays.set(number, play)
    const side = this.sideOf(number, play.over.signal)
    const boxOf: BoxOf = (signal) => this.options.boxOf(owner, signal)
    void this.options.player.play(job, start, side, boxOf).then((end) => {
      this.plays.delete(number)
      this.refuseAsks(play)
      this.send({ t: 'play-end', play: number, end })
    })
  }

  answered({ ask, value, failure, over }: PlayAnswerMessage): void {
    const waiting = this.waiting.get(ask)
    if (waiting === undefined) return
    this.waiting.delete(ask)
    waiting.play.asking--
    if (failure !== undefined) {
      const { fault, outcome, retries } = failure
      waiting.reject(new ModelFault(fault, { outcome, retries }))
    } else if (over === true) waiting.reject(rolloutOver)
    else waiting.resolve(value)
  }

  /** The attempt is over; its harness is told, and given a while. */
  abort(number: number): void {
    const play = this.plays.get(number)
    if (play === undefined) return
    play.over.abort(abortReason)
    this.refuseAsks(play)
  }

  private send(message: ToWorker): void {
    this.options.send(message, { patient: this.busy })
  }

  private refuseAsks(play: OpenPlay): void {
    if (play.asking === 0) return
    for (const [ask, { play: asking, reject }] of this.waiting) {
      if (asking !== play) continue
      this.waiting.delete(ask)
      reject(rolloutOver)
    }
    play.asking = 0
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
      reply: (content) => this.ask(play, { op: 'reply', content }).then(wholeTurn),
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

  private ask(number: number, what: PlayAsk): Promise<unknown> {
    const play = this.plays.get(number)
    if (play === undefined) return Promise.reject(rolloutOver)
    return new Promise((resolve, reject) => {
      const ask = this.nextAsk++
      play.asking++
      this.waiting.set(ask, { play, resolve, reject })
      this.send({ t: 'play-ask', play: number, ask, what })
    })
  }
}

function wholeTurn(value: unknown): Turn {
  return whole(readTurn(value), 'a turn')
}

function whole<T>(value: T | undefined, what: string): T {
  if (value !== undefined) return value
  const message = `the worker process did not answer with ${what}`
  throw new FaultError({ owner: 'platform', code: 'bad_output', message, retryable: false })
}
