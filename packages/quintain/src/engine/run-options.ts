import type { Environment, Harness, Limits, Sampling, Seat } from '../core/index.ts'
import type { Player, Recordings } from './policy.ts'
import type { Progress } from './progress.ts'

/** What a run needs however it began. */
export interface RunControl {
  /** Rollouts in flight. 32 for models and agents, 64 per worker for scripts, when absent. */
  concurrency?: number
  /** Tries of an order whose attempts end in faults that may pass; 3 when absent. */
  maxTries?: number
  /** US dollars after which nothing more is started. */
  maxCostUsd?: number
  /** Worker processes; one per core when absent. */
  workers?: number
  /** Aborted: start nothing more, let what runs finish within `graceMs` (10 s), then cancel it. */
  signal?: AbortSignal
  /** Aborted: stop at once. */
  hardSignal?: AbortSignal
  graceMs?: number
  onProgress?: (progress: Progress) => void
}

export interface RunOptions extends RunControl {
  /** A package name, folder or file, or the environment itself (which then runs in this process). */
  env: string | Environment
  seats: Record<Seat, Player>
  /** Which tasks: so many, or these ids; all when absent. */
  tasks?: number | readonly string[]
  split?: string
  repeats?: number
  options?: Record<string, unknown>
  limits?: Limits
  sampling?: Sampling
  seed?: string | number
  /** Offer agents the action "this task is broken". */
  escalate?: boolean
  /** The program round the agent's model; it runs in this process. The one that fits the environment when absent. */
  harness?: Harness
  isolation?: 'worker' | 'inline'
  /** Where the run is recorded; a temporary folder when absent. */
  dir?: string
  /** Against which a relative reference is read. */
  cwd?: string
  /** Opens `recorded:PATH`. */
  openRecordings?(path: string): Promise<Recordings>
}

export interface ResumeOptions extends RunControl {
  dir: string
  /** The models of the run's seats, by the id that the manifest names; the agent of a run that had one. */
  players?: Record<Seat, Player>
  /** The environment object of a run that was made inline. */
  env?: Environment
  /** Tasks or repeats to order on top of what was ordered. */
  tasks?: number | readonly string[]
  repeats?: number
  split?: string
  /** Try orders again that ended in faults; on when absent. */
  retryFaults?: boolean
  /** Go on although the environment's files or options differ from what was ordered. */
  force?: boolean
  cwd?: string
  openRecordings?(path: string): Promise<Recordings>
}
