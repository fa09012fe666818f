import { ModelFault } from '../core/model.ts'
import type { RetryEntry } from '../core/records.ts'
import { cancelled } from './fault.ts'

export interface RetryOptions {
  /** Tries after the first one; 4 when absent. */
  maxRetries?: number
  /** First back-off, doubled after each try; 500 when absent. */
  baseMs?: number
  /** Longest back-off of our own choosing; 20,000 when absent. */
  maxBackoffMs?: number
  /** Longest wait that a server may ask for; 60,000 when absent. A longer one ends the call. */
  maxWaitMs?: number
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** How long to wait before the next try. */
export interface RetryDelay {
  delayMs: number
  /** The server named the wait. */
  stated: boolean
  /** The stated wait is above the cap: do not wait, give up. */
  aboveCap: boolean
}

/**
 * The wait that a server names, in milliseconds: `retry-after-ms`, `retry-after` (seconds or an HTTP date, RFC 9110
 * §10.2.3), else the reset of an exhausted `x-ratelimit-*` bucket. Undefined when it names none that can be read.
 */
export function statedWaitMs(headers: ResponseHeaders, now: number = Date.now()): number | undefined {
  const exact = header(headers, 'retry-after-ms')
  if (exact !== undefined && /^\d+(\.\d+)?$/.test(exact)) return Number(exact)
  const after = header(headers, 'retry-after')
  if (after !== undefined) {
    if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000
    // A date in the past comes from clocks that differ; it names no wait.
    const date = /[a-z]/i.test(after) ? Date.parse(after) : Number.NaN
    if (date >= now) return date - now
  }
  let longest: number | undefined
  for (const [name, raw] of Object.entries(headers)) {
    const bucket = /^(x-ratelimit-)reset(-\w+)?$|^(anthropic-ratelimit-[\w-]+-)reset$/i.exec(name)
    if (bucket === null || typeof raw !== 'string') continue
    const remaining = header(
      headers,
      bucket[3] === undefined ? `x-ratelimit-remaining${bucket[2] ?? ''}` : `${bucket[3]}remaining`,
    )
    if (remaining !== undefined && Number(remaining) > 0) continue
    const wait = resetMs(raw.trim(), now)
    if (wait !== undefined && (longest === undefined || wait > longest)) longest = wait
  }
  return longest
}

function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name]
  if (value === undefined) {
    for (const key of Object.keys(headers))
      if (key !== name && key.toLowerCase() === name) return header({ [name]: headers[key] }, name)
    return undefined
  }
  return (typeof value === 'string' ? value : value[0])?.trim()
}

/** `6m0s`, `1.5s`, `20ms`, seconds, a point in time in epoch seconds or milliseconds, or a date. */
function resetMs(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text)
    if (number > 1e11) return Math.max(0, number - now)
    return number > 1e8 ? Math.max(0, number * 1000 - now) : number * 1000
  }
  const span = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text)
  if (span !== null && text !== '') {
    const [, hours = 0, minutes = 0, seconds = 0, ms = 0] = span
    return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms)
  }
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/**
 * The wait after failed try number `attempt` (0 for the first). What the server names replaces back-off, with a little
 * jitter on top so that callers do not come back at one moment; back-off is `baseMs` doubled per try, less up to a quarter.
 */
export function retryDelay(
  options: RetryOptions & {
    attempt: number
    headers?: ResponseHeaders
    statedMs?: number | undefined
    now?: number
    random?: () => number
  },
): RetryDelay {
  const { baseMs = 500, maxBackoffMs = 20_000, maxWaitMs = 60_000, random = Math.random } = options
  const stated = options.statedMs ?? (options.headers && statedWaitMs(options.headers, options.now))
  if (stated !== undefined) {
    if (stated > maxWaitMs) return { delayMs: stated, stated: true, aboveCap: true }
    return { delayMs: stated + random() * Math.min(1000, stated * 0.1), stated: true, aboveCap: false }
  }
  const backoff = Math.min(maxBackoffMs, baseMs * 2 ** Math.min(options.attempt, 30))
  return { delayMs: backoff * (1 - random() * 0.25), stated: false, aboveCap: false }
}

/**
 * Runs `attempt` until it succeeds, its fault is not retryable or none may follow, the retries are used up, or the server asks for a wait
 * above the cap: N retries are N + 1 attempts. Every failed try is in the ledger of the result, or of the `ModelFault`
 * that is thrown. Anything thrown that is no `ModelFault` passes.
 */
export async function withRetry<T>(
  attempt: (number: number) => Promise<T>,
  options: RetryOptions & {
    signal?: AbortSignal
    random?: () => number
    sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
    /** Whether another try may follow; absent: it may. Asked after a try has failed. */
    mayRetry?: () => boolean
    /** Told of each failed try that is followed by another. */
    onRetry?: (entry: RetryEntry) => void
    /** Told `true` as soon as a try has failed that is followed by another, and `false` when that one starts or the call ends. */
    onWait?: (waiting: boolean) => void
  } = {},
): Promise<{ value: T; retries: RetryEntry[]; waitedMs: number }> {
  const { maxRetries = 4, maxWaitMs = 60_000, signal, sleep = pause } = options
  const retries: RetryEntry[] = []
  let waitedMs = 0
  for (let number = 0; ; number++) {
    if (signal?.aborted) throw cancelled(retries)
    const began = performance.now()
    try {
      return { value: await attempt(number), retries, waitedMs }
    } catch (thrown) {
      if (!(thrown instanceof ModelFault)) throw thrown
      if (thrown.fault.code === 'cancelled') throw cancelled(retries)
      const entry: RetryEntry = {
        code: thrown.fault.code,
        ...(thrown.status === undefined ? {} : { status: thrown.status }),
        tookMs: performance.now() - began,
        waitedMs: 0,
      }
      retries.push(entry)
      if (!thrown.fault.retryable || options.mayRetry?.() === false) throw withLedger(thrown, retries, '')
      if (number >= maxRetries) {
        throw withLedger(thrown, retries, number === 0 ? '' : ` (${number + 1} attempts)`)
      }
      const delay = retryDelay({ ...options, attempt: number, statedMs: thrown.retryAfterMs })
      if (delay.aboveCap) {
        const asked = `the server asks for a wait of ${Math.ceil(delay.delayMs / 1000)} s`
        throw withLedger(thrown, retries, `; ${asked}, above the cap of ${maxWaitMs / 1000} s`)
      }
      options.onRetry?.(entry)
      const slept = performance.now()
      options.onWait?.(true)
      try {
        await sleep(delay.delayMs, signal)
      } catch {
        throw cancelled(retries)
      } finally {
        options.onWait?.(false)
      }
      entry.waitedMs = Math.max(performance.now() - slept, options.sleep === undefined ? 0 : delay.delayMs)
      waitedMs += entry.waitedMs
    }
  }
}

function withLedger(thrown: ModelFault, retries: RetryEntry[], addition: string): ModelFault {
  const { fault, outcome, status, retryAfterMs, rejected, cause } = thrown
  return new ModelFault(
    { ...fault, message: `${fault.message}${addition}` },
    { outcome, status, retryAfterMs, retries, rejected, cause },
  )
}

/** Waits; rejects at once when the signal is aborted. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) throw cancelled()
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(cancelled())
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
