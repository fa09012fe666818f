import { ending, ModelProblem } from './problem.ts'

export interface AdmissionLimits {
  /** Sequences that are sampled at a time. */
  inFlight: number
  /** Sequences that may wait; more are refused. */
  waiting: number
}

/** Gives up a place; doing so again does nothing. */
export type Leave = () => void

/** The sequences of one request that wait. */
interface Party {
  places: PromiseWithResolvers<Leave>[]
  /** One of its sequences was let in. */
  begun: boolean
  /** It waits no more, and does not listen for its client to leave. */
  over(): void
}

/**
 * Lets sequences in: so many at a time, so many that wait, and beyond that a refusal at once, by which clients know to slow
 * down. Requests take turns, a sequence each, so that one with many keeps none with few from being answered.
 */
export class Admission {
  inFlight = 0
  waiting = 0
  private readonly limits: AdmissionLimits
  private readonly queue: Party[] = []
  private closed = false
  private emptied: (() => void) | undefined

  constructor(limits: AdmissionLimits) {
    this.limits = limits
  }

  /**
   * Places for the sequences of a request, in their order, each as it becomes free. Throws `ModelProblem` 429 and 503. Once
   * the signal is aborted, those that have not begun reject with its reason; so they do with 503 when no more is let in and
   * none of them has begun.
   */
  enter(sequences: number, signal: AbortSignal): Promise<Leave>[] {
    if (this.closed) throw ending()
    signal.throwIfAborted()
    const free = Math.max(0, this.limits.inFlight - this.inFlight)
    if (this.waiting + sequences - free > this.limits.waiting) throw full()
    const places = Array.from({ length: sequences }, () => Promise.withResolvers<Leave>())
    // Whoever has failed with one of them waits for no other.
    for (const { promise } of places) promise.catch(() => {})
    const gone = () => this.refuse(party, signal.reason)
    const party: Party = {
      places: [...places],
      begun: false,
      over: () => signal.removeEventListener('abort', gone),
    }
    signal.addEventListener('abort', gone, { once: true })
    this.waiting += sequences
    this.queue.push(party)
    this.admit()
    return places.map(({ promise }) => promise)
  }

  /** Lets in no request any more, those included that wait; one that was begun is answered whole. */
  close(): void {
    this.closed = true
    for (const party of this.queue.filter(({ begun }) => !begun)) this.refuse(party, ending())
  }

  /** Resolves when nobody is in or waits, after `ms`, or when the signal is aborted. */
  async empty(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.isEmpty() || ms === 0 || signal?.aborted === true) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    this.emptied = resolve
    await promise
    clearTimeout(timer)
  }

  private isEmpty(): boolean {
    return this.inFlight + this.waiting === 0
  }

  private admit(): void {
    while (this.inFlight < this.limits.inFlight) {
      const party = this.queue.shift()
      const place = party?.places.shift()
      if (party === undefined || place === undefined) return
      this.waiting -= 1
      this.inFlight += 1
      party.begun = true
      if (party.places.length > 0) this.queue.push(party)
      else party.over()
      place.resolve(this.leaving())
    }
  }

  private leaving(): Leave {
    let left = false
    return () => {
      if (left) return
      left = true
      this.inFlight -= 1
      this.admit()
      if (this.isEmpty()) this.emptied?.()
    }
  }

  private refuse(party: Party, reason: unknown): void {
    party.over()
    const at = this.queue.indexOf(party)
    if (at >= 0) this.queue.splice(at, 1)
    this.waiting -= party.places.length
    for (const place of party.places.splice(0)) place.reject(reason)
    if (this.isEmpty()) this.emptied?.()
  }
}

function full(): ModelProblem {
  return new ModelProblem(429, 'queue_full', 'Too many sequences wait already. Ask again later.', {
    headers: { 'retry-after': '1' },
  })
}
