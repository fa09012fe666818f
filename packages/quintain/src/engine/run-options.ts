import type { Environment, Harness, Limits, Model, Sampling, SandboxDriver, Seat } from '../core/index.ts'
import type { Player, Recordings } from './policy.ts'
import type { Progress } from './progress.ts'
import type { OpenGateway } from './run-gateway.ts'

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
  /** Boxes open at a time, where the environment runs in some; eight per core when absent. Who finds no room waits. */
  boxes?: number
  /** Aborted: start nothing more, let what runs finish within `graceMs` (10 s), then cancel it. */
  signal?: AbortSignal
  /** Aborted: stop at once. */
  hardSignal?: AbortSignal
  graceMs?: number
  onProgress?: (progress: Progress) => void
}

/** What is played and where it is recorded, whoever plays. */
export interface PlanOptions {
  /** Which tasks: so many, or these ids; all when absent. */
  tasks?: number | readonly string[]
  split?: string
  /** Rollouts of each task; 1 when absent. */
  repeats?: number
  /** Options of the environment. */
  options?: Record<string, unknown>
  limits?: Limits
  sampling?: Sampling
  seed?: string | number
  /** Offer agents the action "this task is broken". */
  escalate?: boolean
  /** The program round the agent's model, such as `toolLoop({ mostToolErrors: 3 })`; the one that fits the environment when absent. For an agent of yours use `agent`. */
  harness?: Harness
  isolation?: 'worker' | 'inline'
  /**
   * What boxes run in, for an environment that needs them: a driver's name (`bwrap`, `docker`, `podman`; `bash` and
   * `process` keep nothing in), or a driver. The strongest that this machine has when absent.
   */
  sandbox?: string | SandboxDriver
  /** Measure first what policies that know nothing reach, where the environment names some. Off when absent. */
  floor?: boolean
  /** Where the run is recorded; a temporary folder when absent. */
  dir?: string
  /** Against which a relative reference is read. */
  cwd?: string
}

/**
 * Opens the driver of a name, or the strongest that is available here, of those that an environment can run in (all when
 * absent). Throws `needs_unmet` when there is none, and `usage` for a name that no driver has.
 */
export type OpenSandbox = (wish: { name?: string; drivers?: readonly string[] }) => Promise<SandboxDriver>

export interface RunOptions extends RunControl, PlanOptions {
  /** A package name, folder or file, or the environment itself (which then runs in this process). */
  env: string | Environment
  seats: Record<Seat, Player>
  /** The models that stand for the judges of the environment, by name; `*` for those that have none of their own. */
  judges?: Readonly<Record<string, Model>>
  /** Opens `recorded:PATH`. */
  openRecordings?(path: string): Promise<Recordings>
  /** Opens a driver of boxes. */
  openSandbox?: OpenSandbox
  /** Opens the gateway at which programs reach models; ours when absent. */
  openGateway?: OpenGateway
}

/** What is added to a run that is taken up, and how. */
export interface ExtendOptions {
  /** The environment object of a run that was made with one. */
  env?: Environment
  /** Tasks or repeats to order on top of what was ordered. */
  tasks?: number | readonly string[]
  repeats?: number
  split?: string
  /** Try orders again that ended in faults; on when absent. */
  retryFaults?: boolean
  /** Go on although the environment's files or options differ from what was ordered. */
  force?: boolean
  /** What boxes run in, instead of what the run began with; another one only with `force`. */
  sandbox?: string | SandboxDriver
  cwd?: string
}

export interface ResumeOptions extends RunControl, ExtendOptions {
  dir: string
  /** The models of the run's seats, by the id that the manifest names; the agent of a run that had one. */
  players?: Record<Seat, Player>
  /** The models of the run's judges, by the name that the manifest has. */
  judges?: Readonly<Record<string, Model>>
  openRecordings?(path: string): Promise<Recordings>
  openSandbox?: OpenSandbox
  openGateway?: OpenGateway
}

/** Names of all options of a kind, as values: a type is not there when a slip is to be found. */
const namesOf =
  <Options>() =>
  <Names extends readonly (keyof Options)[]>(
    ...names: Exclude<keyof Options, Names[number]> extends never ? Names : never
  ) =>
    names

export const controlNames = namesOf<RunControl>()(
  'concurrency',
  'maxTries',
  'maxCostUsd',
  'workers',
  'boxes',
  'signal',
  'hardSignal',
  'graceMs',
  'onProgress',
)

export const planNames = namesOf<PlanOptions>()(
  'tasks',
  'split',
  'repeats',
  'options',
  'limits',
  'sampling',
  'seed',
  'escalate',
  'harness',
  'isolation',
  'sandbox',
  'floor',
  'dir',
  'cwd',
)
