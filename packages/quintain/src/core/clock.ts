/** The time an environment sees. A world reads this and never `Date.now()`, so that a task is the same task every day. */
export interface Clock {
  /** Milliseconds since the epoch, as the world tells them. */
  now(): number
  /** Moves the world's time forward by `ms` at once; nothing waits. */
  advance(ms: number): void
}

/** The first instant of every world unless its environment says otherwise. */
export const defaultEpoch = Date.UTC(2026, 0, 1)

/** A clock that starts at `epoch` and moves only when it is told to. */
export function virtualClock(epoch: number = defaultEpoch): Clock {
  let time = epoch
  return {
    now: () => time,
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance(ms) needs a number >= 0, got ${ms}`)
      time += ms
    },
  }
}
