import { hash } from 'node:crypto'
import type { Exchange } from './exchange.ts'
import type { SharedCall } from './shared-call.ts'

/**
 * By what a request is known when it comes again. What it says is hashed when one of the same length comes, or when its
 * text is let go: most are never asked for again, and none has to wait for its hash before its model is asked.
 */
export class CallIdentity {
  readonly idempotencyKey: string | undefined
  /** The SDK says that it asks again. */
  readonly retry: boolean
  /** What requests that are the same have in common at a glance. */
  readonly kind: string
  private text: string | undefined
  private hashed: string | undefined

  constructor(exchange: Exchange, dialect: string, text: string) {
    this.kind = `${dialect} ${text.length}`
    this.text = text
    this.idempotencyKey = exchange.header('idempotency-key')
    this.retry = Number(exchange.header('x-stainless-retry-count') ?? 0) > 0
  }

  /** Of one kind: whether both say the same. */
  says(other: CallIdentity): boolean {
    return this.digest() === other.digest()
  }

  /** Keeps the hash in place of the text. */
  letGo(): void {
    this.digest()
    this.text = undefined
  }

  private digest(): string {
    this.hashed ??= hash('sha256', this.text ?? '', 'base64')
    return this.hashed
  }
}

/** The calls of a lease that a request may be a repetition of. */
export class LeaseCalls {
  private readonly byKind = new Map<string, SharedCall[]>()

  /**
   * The call that a request asks for again: one of the same idempotency key; one whose reply nobody waits for and nobody
   * has had; one that its provider has just failed on; or, where the SDK says that it asks again, one that it gave up on
   * just now. A request that is merely the same as another is a call of its own: the model may well say something else.
   */
  find(identity: CallIdentity): SharedCall | undefined {
    const { kind, idempotencyKey, retry } = identity
    const same = this.byKind.get(kind)?.filter((call) => call.identity.says(identity))
    if (same === undefined || same.length === 0) return undefined
    if (idempotencyKey !== undefined) {
      const again = same.find((call) => call.identity.idempotencyKey === idempotencyKey)
      if (again !== undefined) return again
    }
    const lost = same.find((call) => call.lost)
    if (lost !== undefined) return lost
    const open = same.filter(
      (call) => call.identity.idempotencyKey === undefined || idempotencyKey === undefined,
    )
    const faulted = open.find((call) => call.faulted)
    if (faulted !== undefined || !retry) return faulted
    return open.find((call) => !call.taken) ?? open.at(-1)
  }

  add(call: SharedCall): void {
    const { kind } = call.identity
    const same = this.byKind.get(kind)
    if (same === undefined) this.byKind.set(kind, [call])
    else same.push(call)
  }

  delete(call: SharedCall): void {
    const { kind } = call.identity
    const same = this.byKind.get(kind)
    const at = same?.indexOf(call) ?? -1
    if (same === undefined || at < 0) return
    if (same.length === 1) this.byKind.delete(kind)
    else same.splice(at, 1)
  }

  /** Ends every call. */
  close(): void {
    for (const same of [...this.byKind.values()]) for (const call of [...same]) call.close()
  }
}
