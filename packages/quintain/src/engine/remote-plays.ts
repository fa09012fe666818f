import { ModelFault } from '../core/index.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { boxOwner } from './box-protocol.ts'
import { isPlainData } from './plain.ts'
import type { PlayDoor, PlayEnd, WorldSide } from './play.ts'
import type { FromWorker, PlayAsk, ToWorker, WireFault } from './protocol.ts'
import { hideKeys } from './redact.ts'
import { worldFault } from './step.ts'

interface OpenPlay {
  side: WorldSide
  end(end: PlayEnd): void
}

/** The plays of a worker's attempts, whose harnesses run in the main process. */
export class RemotePlays implements PlayDoor {
  private readonly send: (message: FromWorker) => void
  private readonly plays = new Map<number, OpenPlay>()
  /** Policies that are being asked, by ask. */
  private readonly asks = new Map<number, AbortController>()
  private nextPlay = 1

  constructor(send: (message: FromWorker) => void) {
    this.send = send
  }

  async play(...[job, given, side]: Parameters<PlayDoor['play']>): Promise<PlayEnd> {
    const start = sendable(given)
    return new Promise((resolve) => {
      const play = this.nextPlay++
      const abort = () => this.send({ t: 'play-abort', play })
      this.plays.set(play, {
        side,
        end: (end) => {
          side.signal.removeEventListener('abort', abort)
          resolve(end)
        },
      })
      this.send({ t: 'play', play, owner: boxOwner(job), start })
      if (side.signal.aborted) abort()
      else side.signal.addEventListener('abort', abort, { once: true })
    })
  }

  receive(message: Extract<ToWorker, { t: `play-${string}` }>): void {
    switch (message.t) {
      case 'play-ask':
        this.answer(message.play, message.ask, message.what)
        return
      case 'play-ask-abort':
        this.asks.get(message.ask)?.abort()
        return
      case 'play-clock':
        this.plays.get(message.play)?.side.clock(message.move)
        return
      case 'play-end': {
        const open = this.plays.get(message.play)
        this.plays.delete(message.play)
        open?.end(message.end)
      }
    }
  }

  private answer(play: number, ask: number, what: PlayAsk): void {
    const side = this.plays.get(play)?.side
    if (side === undefined) {
      this.send({ t: 'play-answer', ask, over: true })
      return
    }
    this.carriedOut(side, ask, what).then(
      (value) => this.send({ t: 'play-answer', ask, value }),
      (thrown: unknown) => {
        const why = thrown instanceof ModelFault ? { failure: wireFault(thrown) } : { over: true }
        this.send({ t: 'play-answer', ask, ...why })
      },
    )
  }

  private carriedOut(side: WorldSide, ask: number, what: PlayAsk): Promise<unknown> {
    switch (what.op) {
      case 'tools':
        return side.tools(what.calls, what.truncated, what.content)
      case 'reply':
        return side.reply(what.content)
      case 'generate': {
        // Policies alone can be taken back; the others need not pay for it.
        const controller = new AbortController()
        this.asks.set(ask, controller)
        return side.generate(what.request, controller.signal).finally(() => this.asks.delete(ask))
      }
    }
  }
}

/** What can go over the channel; a task with something else in it is the environment's fault and must not end its process. */
function sendable<T>(value: T): T {
  // What the agent is told does not change on its way; a copy costs as much as sending it.
  if (isPlainData(value)) return value
  try {
    return structuredClone(value)
  } catch (thrown) {
    throw worldFault(
      'open',
      'not_plain',
      `what the agent is to be told is no plain data: ${redactedMessage(hideKeys, thrown)}`,
    )
  }
}

function wireFault(thrown: ModelFault): WireFault {
  return {
    fault: thrown.fault,
    retries: thrown.retries,
    ...(thrown.outcome === undefined ? {} : { outcome: thrown.outcome }),
  }
}
