import { ModelFault } from '../core/model.ts'
import { FairQueue } from './fair-queue.ts'
import { cancelled } from './fault.ts'

export interface LimiterOptions {
  /** Calls at once in the beginning; 64 when absent. */
  initial?: number
  /** Fewest calls at once; 1 when absent. */
  min?: number
  /** Most calls at once; 1024 when absent. */
  max?: number
  /** Callers that may wait; one more is turned away with `queue_full`. 100,000 when absent. */
  maxQueue?: number
  /** A reply that is this many times slower than usual is a sign of overload; 8 when absent. */
  slowdown?: number
}

/** How a call went, told to the limiter. */
export interface CallSample {
  /** HTTP status, where there was one. */
  status?: number | undefined
  /** The call failed for overload: a timeout or a refused connection. */
  overloaded?: boolean
  latencyMs?: number | undefined
}

export interface Permit {
  /** Milliseconds that the caller stood in the queue. */
  readonly waitedMs: number
  /** The call asks nothing of the provider for now (true): another may have its place. It goes on (false), place or none. */
  rest(resting: boolean): void
  /** Gives the place free. A second call does nothing. */
  release(sample?: CallSample): void
}

/** Concurrency of one provider, adapted to how it answers. */
export interface Limiter {
  /**
   * Waits for a place. A party (an attempt) that has fewer places goes first, of those that have the same number the one
   * that was served longest ago; calls of one party go in the order in which they came. Rejects with a `ModelFault` when
   * cancelled or when the queue is full.
   */
  acquire(signal?: AbortSignal, party?: string): Promise<Permit>
  /** Calls that may run at once at this moment. */
  readonly limit: number
  readonly inFlight: number
  readonly queued: number
}

interface Waiter {
  since: number
  party: string
  settle: ((permit: Permit | undefined) => void) | undefined
}

/**
 * An adaptive limit in the manner of TCP: a rate limit or an overload halves it, once for all calls that were under way
 * at that moment; successes let it grow by one per round of calls (doubling per round until the first overload). Replies
 * that are several times slower than usual shrink it a little and stop its growth.
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  const min = Math.max(1, options.min ?? 1)
  const max = Math.max(min, options.max ?? 1024)
  const maxQueue = options.maxQueue ?? 100_000
  const slowdown = options.slowdown ?? 8
  let limit = Math.min(max, Math.max(min, options.initial ?? 64))
  let highest = limit
  let inFlight = 0
  /** Calls are numbered; those up to `settled` were under way at the last decrease and do not count again. */
  let issued = 0
  let settled = 0
  let everOverloaded = false
  let samples = 0
  let usualMs: number | undefined
  let recentMs: number | undefined

  const queue = new FairQueue<Waiter>()

  function decrease(factor: number, floor: number): void {
    limit = Math.max(min, Math.min(limit, Math.max(floor, limit * factor)))
    settled = issued
  }

  function observe(number: number, sample: CallSample): void {
    const { status, latencyMs } = sample
    const overload = sample.overloaded === true || status === 429 || status === 503 || status === 529
    const fresh = number > settled
    if (overload) {
      everOverloaded = true
      if (fresh) decrease(0.5, min)
      return
    }
    if (status !== undefined && status >= 400) return
    let slow = false
    if (latencyMs !== undefined) {
      recentMs = recentMs === undefined ? latencyMs : recentMs + (latencyMs - recentMs) * 0.2
      // The mean, since replies differ by their length; it moves by rounds of calls and by little at a time, so that a
      // jam does not become the norm before it was noticed.
      const weight = ++samples <= 20 ? 1 / samples : 0.02 / limit
      usualMs =
        usualMs === undefined ? latencyMs : usualMs + (Math.min(latencyMs, usualMs * 4) - usualMs) * weight
      slow = recentMs > Math.max(50, usualMs * slowdown)
      if (slow && fresh) {
        everOverloaded = true
        decrease(0.8, highest / 4)
        return
      }
    }
    // Growth without demand would be a guess.
    if (slow || inFlight + 1 < limit * 0.75) return
    limit = Math.min(max, limit + (everOverloaded ? 1 / limit : 1))
    if (limit > highest) highest = limit
  }

  function permit(party: string, waitedMs: number): Permit {
    const number = ++issued
    let open = true
    let holds = false
    const hold = (held: boolean): void => {
      if (held === holds) return
      holds = held
      inFlight += held ? 1 : -1
      queue.count(party, held ? 1 : -1)
    }
    hold(true)
    return {
      waitedMs,
      rest(resting) {
        if (!open) return
        hold(!resting)
        admit()
      },
      release(sample = {}) {
        if (!open) return
        open = false
        hold(false)
        observe(number, sample)
        admit()
      },
    }
  }

  function admit(): void {
    while (queue.size > 0 && inFlight < Math.floor(limit)) {
      const waiter = queue.next()
      waiter?.settle?.(permit(waiter.party, performance.now() - waiter.since))
    }
  }

  return {
    get limit() {
      return Math.floor(limit)
    },
    get inFlight() {
      return inFlight
    },
    get queued() {
      return queue.size
    },
    async acquire(signal, party = '') {
      if (signal?.aborted) throw cancelled()
      if (queue.size === 0 && inFlight < Math.floor(limit)) return permit(party, 0)
      if (queue.size >= maxQueue) {
        throw new ModelFault({
          owner: 'platform',
          stage: 'model',
          code: 'queue_full',
          message: `${queue.size} model calls wait for this provider already; lower the concurrency of the run.`,
          retryable: true,
        })
      }
      const granted = await new Promise<Permit | undefined>((resolve) => {
        const waiter: Waiter = { since: performance.now(), party, settle: undefined }
        const stop = (): void => {
          queue.delete(party, waiter)
          resolve(undefined)
        }
        waiter.settle = (value) => {
          signal?.removeEventListener('abort', stop)
          resolve(value)
        }
        signal?.addEventListener('abort', stop, { once: true })
        queue.add(party, waiter)
      })
      if (granted === undefined) throw cancelled()
      return granted
    },
  }
}
