import { clearTimeout, now, setTimeout } from '../core/own-time.ts'

/** Where time comes from; another in tests. */
export interface Timers {
  now(): number
  set(expire: () => void, ms: number): unknown
  clear(timer: unknown): void
}

export const realTimers: Timers = {
  now,
  set: (expire, ms) => setTimeout(expire, Math.min(ms, 2 ** 31 - 1)),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

export interface CallDeadline {
  /** The other side gave a sign of life: the idle limit starts anew, the total limit does not. */
  touch(): void
  stop(): void
}

/**
 * Calls `expire` once, when `totalMs` have passed since the start whatever happens, or `idleMs` since the last sign of
 * life.
 */
export function startCallDeadline(options: {
  totalMs: number
  idleMs?: number | undefined
  timers: Timers
  expire(which: 'total' | 'idle'): void
}): CallDeadline {
  const { timers, totalMs, idleMs = Number.POSITIVE_INFINITY } = options
  const start = timers.now()
  let last = start
  let timer: unknown
  let stopped = false
  const wait = () => {
    const left = Math.min(start + totalMs, last + idleMs) - timers.now()
    timer = timers.set(look, Math.max(0, left))
  }
  const look = () => {
    if (stopped) return
    const at = timers.now()
    // A timer may fire a little early; then it is set again.
    if (at < Math.min(start + totalMs, last + idleMs)) return wait()
    stopped = true
    options.expire(at >= start + totalMs ? 'total' : 'idle')
  }
  wait()
  return {
    touch() {
      if (stopped) return
      last = timers.now()
      timers.clear(timer)
      wait()
    },
    stop() {
      stopped = true
      timers.clear(timer)
    },
  }
}
