import { AsyncLocalStorage } from 'node:async_hooks'

/** A rollout whose program runs in this process. */
interface Rollout {
  over: boolean
  fail(error: unknown): void
}

const rollouts = new AsyncLocalStorage<Rollout>()
/** How many are running, and what `process.exit` was before the first. */
let running = 0
let exit: typeof process.exit = process.exit

/**
 * Runs the program of one rollout in this process so that it ends nobody's but its own: where it calls `process.exit`, that
 * throws and its rollout fails, and what it leaves to fail by itself can be told of by `failRollout`. While any program
 * runs, `process.exit` is ours; called by anybody else it does what it always did.
 */
export async function guardRollout<T>(run: () => Promise<T>): Promise<T> {
  const failed = Promise.withResolvers<never>()
  // Nobody may be left to hear of it.
  failed.promise.catch(() => {})
  const rollout: Rollout = { over: false, fail: failed.reject }
  if (running++ === 0) {
    exit = process.exit
    process.exit = exitOutside
  }
  try {
    return await Promise.race([rollouts.run(rollout, run), failed.promise])
  } finally {
    rollout.over = true
    if (--running === 0 && process.exit === exitOutside) process.exit = exit
  }
}

/**
 * Fails the rollout whose program threw where nobody caught it: to be asked while an `uncaughtException` or an
 * `unhandledRejection` is handled. Says whose it was: of a rollout that runs, of one that is over, or of none.
 */
export function failRollout(error: unknown): 'failed' | 'over' | 'none' {
  const rollout = rollouts.getStore()
  if (rollout === undefined) return 'none'
  if (rollout.over) return 'over'
  rollout.fail(error)
  return 'failed'
}

function exitOutside(code?: number | string | null): never {
  const rollout = rollouts.getStore()
  if (rollout === undefined) return exit(code)
  const error = new Error(
    `the agent called process.exit(${code ?? ''}), which would end the whole run; a function answers, or throws`,
  )
  rollout.fail(error)
  throw error
}
