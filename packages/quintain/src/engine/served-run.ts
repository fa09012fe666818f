import { resolve } from 'node:path'
import {
  type AttemptRecord,
  doorHarness,
  type Harness,
  Journal,
  type ManifestRecord,
  type OrderRecord,
  type PublicTask,
  type VerdictRecord,
} from '../core/index.ts'
import type { AttemptOutput } from './attempt.ts'
import { checkRunOptions } from './check-options.ts'
import { totalReward } from './grade.ts'
import { GrowingRun, type OrderOptions } from './growing-run.ts'
import { manifestOf, recordFiles } from './manifest.ts'
import { type OpenedRun, openRun } from './open-run.ts'
import { requestOf } from './plan-orders.ts'
import type { SeatPlayers } from './play.ts'
import { closeRun } from './run.ts'
import type { RunOptions } from './run-options.ts'
import type { TaskSummary } from './taskset.ts'

/** What is served, where its code runs, and where it is recorded. */
export interface ServedRunOptions
  extends Pick<
    RunOptions,
    | 'env'
    | 'options'
    | 'limits'
    | 'seed'
    | 'judges'
    | 'workers'
    | 'boxes'
    | 'isolation'
    | 'sandbox'
    | 'openSandbox'
    | 'openRecordings'
    | 'split'
    | 'cwd'
  > {
  /** Folder of the run; it must not be there yet. */
  dir: string
  /** So many tasks of the environment; all when absent, which endless ones do not allow. */
  tasks?: number
  /** Who plays seats beside the agent's; those with a script of their own need nobody. */
  seats?: RunOptions['seats']
  /** Plays the agent's seat of what is ordered. */
  players: SeatPlayers
}

/** What an order came to. */
export interface ServedAttempt {
  attempt: Omit<AttemptRecord, 'parts' | 'final'>
  /** The reward without those that need a whole group, where there are such. */
  ownReward: number | null
}

/**
 * A run without a plan: what is ordered is decided while it runs, and who plays the agent is not ours. Otherwise it is an
 * ordinary run, and its folder one that every reader takes.
 */
export interface ServedRun {
  readonly dir: string
  readonly manifest: ManifestRecord
  readonly opened: OpenedRun
  readonly tasks: readonly TaskSummary[]
  /** Public parts of the tasks in these places. */
  publicTasks(places: readonly number[]): Promise<PublicTask[]>
  /** A further order of a task. It is planned once `play` has written it down; one that is only a `preview` is none of the plan. */
  order(task: TaskSummary, options?: { preview?: boolean }): OrderRecord
  /** Plays an order to its end. Rejects when it cannot be recorded, and never for what comes of it. */
  play(order: OrderRecord): Promise<ServedAttempt>
  /** Plays an order of which no record is kept. */
  preview(order: OrderRecord): Promise<ServedAttempt>
  /** Writes out what was played. Rejects as `Journal.flush`. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Stands in the agent's seat for whoever plays it over a door. */
const client: Harness = {
  name: doorHarness,
  carries: { turns: true, tools: true, images: true },
  runs: 'outside',
  run: () => Promise.reject(new Error('a door is played by its clients')),
}

/** Opens an environment for whoever comes to play it. Throws as a run does, before anything is ordered. */
export async function openServedRun(options: ServedRunOptions): Promise<ServedRun> {
  const { players, seats, ...given } = options
  const runOptions: RunOptions = { ...given, seats: { ...seats, agent: { agent: client } } }
  checkRunOptions(runOptions)
  const dir = resolve(options.cwd ?? '.', options.dir)
  const opened = await openRun({ ...runOptions, players })
  let journal: Journal | undefined
  try {
    const request = requestOf({ tasks: 0 })
    journal = await Journal.create(dir, manifestOf(runOptions, opened, request, dir, []))
    await recordFiles(dir, opened)
    await opened.log.to(resolve(dir, 'private', 'worker.log'))
    opened.boxes.store.keepIn(resolve(dir, 'private', 'artefacts'))
    await journal.appendOrders([request])
    return new Served(opened, journal)
  } catch (error) {
    await closeRun({ opened, journal })
    throw error
  }
}

class Served extends GrowingRun implements ServedRun {
  override order(
    task: TaskSummary,
    { preview = false, ...options }: OrderOptions & { preview?: boolean } = {},
  ): OrderRecord {
    return preview ? this.glimpse(task) : super.order(task, options)
  }

  async play(order: OrderRecord): Promise<ServedAttempt> {
    await this.plan(order)
    const output = await this.opened.executor.run({ order, try: 1 })
    // Whoever played it has lost its state with it: it is not tried again.
    this.journal.appendAttempt({ ...output, attempt: { ...output.attempt, final: true } })
    return { attempt: output.attempt, ownReward: ownRewardOf(output) }
  }

  async preview(order: OrderRecord): Promise<ServedAttempt> {
    const output = await this.opened.executor.run({ order, try: 1 })
    return { attempt: output.attempt, ownReward: null }
  }
}

function ownRewardOf({ attempt, verdict }: AttemptOutput): number | null {
  if (attempt.verdict === null) return null
  if (attempt.verdict.pending === undefined || verdict === undefined) return attempt.verdict.reward
  const { components } = JSON.parse(Buffer.from(verdict.bytes).toString('utf8')) as VerdictRecord
  const own = Object.entries(components).filter(([, { kind }]) => kind !== 'group')
  return totalReward(Object.fromEntries(own))
}
