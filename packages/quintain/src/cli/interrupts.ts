import type { CliIo } from './io.ts'

/** Milliseconds that attempts in flight get to finish after the first Ctrl-C. */
export const interruptGraceMs = 10_000

/** Milliseconds within which signals are one press: `npx` hands on the signal that the terminal gave us already. */
const onePressMs = 200

/** Calls `press` for the first of signals that belong together. Nobody presses Ctrl-C twice as fast as a program repeats it. */
export function asPresses(press: () => void, now: () => number = () => performance.now()): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const at = now()
    if (at - last < onePressMs) return
    last = at
    press()
  }
}

export interface Interrupts {
  /** Nothing new starts; what runs may finish within the grace. */
  signal: AbortSignal
  /** Everything stops. */
  hardSignal: AbortSignal
  /** As one Ctrl-C. */
  interrupt(): void
  stop(): void
}

/**
 * Ctrl-C once: no new attempts, and the engine gives those in flight ten seconds. Twice: they stop at once. Either way what
 * was finished is on disk. `stopping` is said the first time.
 */
export function listenForInterrupts(
  io: CliIo,
  say: (text: string) => void,
  stopping = `Stopping: attempts in flight have ${interruptGraceMs / 1000} s to finish. Ctrl-C again stops them at once.`,
): Interrupts {
  const soft = new AbortController()
  const hard = new AbortController()
  const interrupt = () => {
    if (!soft.signal.aborted) {
      say(stopping)
      soft.abort()
    } else if (!hard.signal.aborted) {
      say('Stopping at once.')
      hard.abort()
    }
  }
  const unsubscribe = io.onInterrupt?.(interrupt)
  io.signal?.addEventListener('abort', interrupt, { once: true })
  if (io.signal?.aborted) interrupt()
  return {
    signal: soft.signal,
    hardSignal: hard.signal,
    interrupt,
    stop() {
      unsubscribe?.()
      io.signal?.removeEventListener('abort', interrupt)
    },
  }
}
