import { hash } from 'node:crypto'
import type { Exchange } from './exchange.ts'
import type { SharedCall } from './shared-call.ts'

/** By what a request is known when it comes again. */
export interface CallIdentity {
  key: string
  idempotencyKey: string | undefined
  /** The SDK says that it asks again. */
  retry: boolean
}

export function identityOf(exchange: Exchange, dialect: string, text: string): CallIdentity {
  return {
    key: `${dialect} ${hash('sha256', text, 'base64')}`,
    idempotencyKey: exchange.header('idempotency-key'),
    retry: Number(exchange.header('x-stainless-retry-count') ?? 0) > 0,
  }
}

/** The calls of a lease that a request may be a repetition of. */
export class LeaseCalls {
  private readonly byKey = new Map<string, SharedCall[]>()

  /**
   * The call that a request asks for again: one of the same idempotency key; one whose reply nobody waits for and nobody
   * has had; one that its provider has just failed on; or, where the SDK says that it asks again, one that it gave up on
   * just now. A request that is merely the same as another is a call of its own: the model may well say something else.
   */
  find({ key, idempotencyKey, retry }: CallIdentity): SharedCall | undefined {
    const same = this.byKey.get(key)
    if (same === undefined) return undefined
    if (idempotencyKey !== undefined) {
      const again = same.find((call) => call.idempotencyKey === idempotencyKey)
      if (again !== undefined) return again
    }
    const lost = same.find((call) => call.lost)
    if (lost !== undefined) return lost
    const open = same.filter((call) => call.idempotencyKey === undefined || idempotencyKey === undefined)
    const faulted = open.find((call) => call.faulted)
    if (faulted !== undefined || !retry) return faulted
    return open.find((call) => !call.taken) ?? open.at(-1)
  }

  add(call: SharedCall): void {
    const same = this.byKey.get(call.key)
    if (same === undefined) this.byKey.set(call.key, [call])
    else same.push(call)
  }

  delete(call: SharedCall): void {
    const { key } = call
    const same = this.byKey.get(key)
    const at = same?.indexOf(call) ?? -1
    if (same === undefined || at < 0) return
    if (same.length === 1) this.byKey.delete(key)
    else same.splice(at, 1)
  }

  /** Ends every call. */
  close(): void {
    for (const same of [...this.byKey.values()]) for (const call of [...same]) call.close()
  }
}
