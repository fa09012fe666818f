import { FaultError, QuintainError } from '../core/index.ts'
import type { BoxDoor } from './box-protocol.ts'
import type { FromWorker, ToWorker } from './protocol.ts'

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  onWait: ((waiting: boolean) => void) | undefined
}

/** The boxes of a worker's attempts, which the main process holds: a message each way. */
export class RemoteBoxes {
  private readonly send: (message: FromWorker) => void
  private readonly calls = new Map<number, Waiting>()
  private nextCall = 1

  constructor(send: (message: FromWorker) => void) {
    this.send = send
  }

  door(owner: string): BoxDoor {
    return {
      ask: (request, { signal, onWait } = {}) =>
        new Promise((resolve, reject) => {
          const call = this.nextCall++
          // The command is ended, and how it ended is the answer.
          const abort = () => this.send({ t: 'box-abort', call })
          const settled = () => signal?.removeEventListener('abort', abort)
          this.calls.set(call, {
            resolve(value) {
              settled()
              resolve(value)
            },
            reject(error) {
              settled()
              reject(error)
            },
            onWait,
          })
          this.send({ t: 'box', call, owner, request })
          if (signal?.aborted) abort()
          else signal?.addEventListener('abort', abort, { once: true })
        }),
    }
  }

  answered({ call, value, error, fault }: Extract<ToWorker, { t: 'boxed' }>): void {
    const waiting = this.calls.get(call)
    if (!this.calls.delete(call)) return
    if (fault !== undefined) waiting?.reject(new FaultError(fault))
    else if (error !== undefined)
      waiting?.reject(new QuintainError(error.code, error.message, { facts: error.facts }))
    else waiting?.resolve(value)
  }

  waits({ call, waiting }: Extract<ToWorker, { t: 'box-wait' }>): void {
    this.calls.get(call)?.onWait?.(waiting)
  }
}
