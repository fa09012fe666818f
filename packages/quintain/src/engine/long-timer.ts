import { clearTimeout, setTimeout } from '../core/own-time.ts'

/** The longest wait of one of Node's timers, about 25 days; a longer one would fire at once. */
const longest = 2 ** 31 - 1

/** Calls `expire` after `ms`, however long that is. Gives what stops it. */
export function longTimer(ms: number, expire: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    timer = setTimeout(() => (left > longest ? wait(left - longest) : expire()), Math.min(left, longest))
  }
  wait(Math.max(0, ms))
  return () => clearTimeout(timer)
}
