import type { Fault } from '../core/index.ts'

const backoffBaseMs = 500
const backoffMaxMs = 30_000

/** How many tries a fault is worth, by whose it is. A grader was tried again in place; a world that fails twice will fail again. */
export function triesFor(fault: Fault, maxTries: number): number {
  if (!fault.retryable) return 1
  switch (fault.owner) {
    case 'grader':
      return 1
    case 'world':
      return Math.min(2, maxTries)
    default:
      return maxTries
  }
}

/** Milliseconds before an attempt that ended in a fault is followed by the next; `tries` of the order have been made. */
export function backoffMs({ owner }: Fault, tries: number): number {
  const slow = owner === 'provider' || owner === 'gateway' || owner === 'judge'
  return slow ? Math.min(backoffMaxMs, backoffBaseMs * 2 ** (tries - 1)) : 0
}
