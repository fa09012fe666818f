import type { FileRefusal } from '../../core/sandbox.ts'
import { type Refused, refused } from '../file-refusal.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import { type Channel, type Frame, packFields, unpackFields } from './channel.ts'

/** What holds a box up: the process namespace and what limits it. */
export interface Housing {
  /** Ends everything in the box; resolves when nothing of it is left. */
  end(): Promise<void>
  outOfMemoryKills(): number | null
  /** The shell for commands that are text. */
  shell: string
}

/** Who waits for frames of one number. */
export interface Pending {
  frame(frame: Frame): void
  /** The box is gone; nothing more will come. */
  gone(): void
}

export type Answer = { ok: true; extra: string } | Refused
type Field = string | number | Uint8Array

const chunkBytes = 262_144
const empty = Buffer.alloc(0)

/**
 * The line to the supervisor of one box: who waits for what, and whether the box is still there. A box that its own
 * commands brought down, or of which a command cannot be ended, is *ruined*: it goes on as one in which nothing is left,
 * since that is the doing of whoever works in it. One that ends for any other reason is *lost*, which is a fault.
 */
export class BoxLink {
  readonly housing: Housing
  readonly #channel: Channel
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #state: 'up' | 'stopped' | 'lost' | 'ruined' = 'up'

  constructor(channel: Channel, housing: Housing) {
    this.#channel = channel
    this.housing = housing
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  get isRuined(): boolean {
    return this.#state === 'ruined'
  }

  take(frame: Frame): void {
    this.#pending.get(frame.id)?.frame(frame)
  }

  /** The supervisor is gone. */
  gone(): void {
    if (this.#state === 'up') this.#state = (this.housing.outOfMemoryKills() ?? 0) > 0 ? 'ruined' : 'lost'
    for (const pending of [...this.#pending.values()]) pending.gone()
    this.#pending.clear()
  }

  /** Ends a box in which something cannot be ended otherwise. */
  ruin(): void {
    if (this.#state !== 'up') return
    this.#state = 'ruined'
    void this.housing.end()
  }

  close(): void {
    this.#state = 'stopped'
    this.#channel.close()
    this.gone()
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  wait(id: number, pending: Pending): void {
    this.#pending.set(id, pending)
  }

  forget(id: number): void {
    this.#pending.delete(id)
  }

  send(type: string, id: number, fields: readonly Field[]): void {
    this.#channel.send(type, id, packFields(fields))
  }

  sendBytes(type: string, id: number, data: Uint8Array = empty): void {
    for (let at = 0; at === 0 || at < data.length; at += chunkBytes)
      this.#channel.send(type, id, data.subarray(at, at + chunkBytes))
  }

  /** Sends a request; data frames go to `into`. Throws a sandbox fault when the box is gone. */
  ask(
    type: string,
    fields: readonly Field[],
    into: (body: Buffer, type: string) => void = () => {},
    id = this.nextId(),
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.check()
      if (this.isRuined) return resolve(nothingLeft())
      this.wait(id, {
        frame: ({ type: got, body }) => {
          if (got === 'D' || got === 'B') return into(body, got)
          this.forget(id)
          const [reason, extra] = unpackFields(body).map((field) => field.toString('utf8'))
          resolve(
            reason === '' ? { ok: true, extra: extra ?? '' } : refused(reason as FileRefusal, extra ?? ''),
          )
        },
        gone: () => (this.isRuined ? resolve(nothingLeft()) : reject(this.fault())),
      })
      this.send(type, id, fields)
    })
  }

  check(): void {
    if (this.#state === 'stopped' || this.#state === 'lost') throw this.fault()
  }

  fault(): Error {
    return this.#state === 'stopped'
      ? stoppedFault()
      : sandboxFault('sandbox_lost', 'the box ended without being stopped')
  }
}

function nothingLeft(): Refused {
  return refused('missing', 'nothing is left of the box')
}
