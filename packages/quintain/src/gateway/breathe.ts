import { now, setImmediate } from '../core/own-time.ts'

/** How long rollouts that never wait for anything may hold the event loop. */
const mostMs = 10

let since = now()

/** The event loop has turned: said by what it alone calls. */
export function breathed(): void {
  since = now()
}

/**
 * Lets the event loop turn when it has not for a while. A script against a world that both answer at once would
 * otherwise keep timers, and so every deadline, from running. Undefined where there is nothing to wait for.
 */
export function breathe(): Promise<void> | undefined {
  return now() - since < mostMs ? undefined : turn()
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  since = now()
}
