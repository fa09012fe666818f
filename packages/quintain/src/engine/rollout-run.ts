import { resolve } from 'node:path'
import {
  type AttemptRecord,
  Journal,
  type Model,
  type OrderRecord,
  type OrderState,
  type PrivateRecord,
  readManifest,
  readPrivate,
  readTokens,
  readTrajectory,
  readVerdict,
  type Sampling,
  type TrajectoryRecord,
  type VerdictRecord,
} from '../core/index.ts'
import { clearTimeout, setTimeout } from '../core/own-time.ts'
import type { AttemptOutput } from './attempt.ts'
import { checkControl, checkRunOptions } from './check-options.ts'
import type { Executor } from './executor.ts'
import { gradeWholeGroup } from './grade-group.ts'
import { GrowingRun, type OrderOptions } from './growing-run.ts'
import { checkSame, manifestOf, recordFiles, runOptionsOf } from './manifest.ts'
import { type OpenedRun, openRun } from './open-run.ts'
import { appendPlan, Places, requestOf, selectForRequest } from './plan-orders.ts'
import { backoffMs, triesFor } from './retries.ts'
import { closeRun, controlOf, type RunEnd, startRun } from './run.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'
import { isOwnVerdictWhole, Standing, schedule } from './scheduler.ts'
import type { TaskSummary } from './taskset.ts'

/** What plays in a run of rollouts, whether it is new or taken up. */
interface RolloutControl
  extends Pick<
    RunOptions,
    'concurrency' | 'maxTries' | 'workers' | 'boxes' | 'judges' | 'openSandbox' | 'openRecordings' | 'cwd'
  > {
  /** Folder of the run. */
  dir: string
  /** Plays the agent's seat. */
  model: Model
  /** Who plays seats beside the agent's; those with a script of their own need nobody. */
  seats?: RunOptions['seats']
  /** So many tasks of the environment; all when absent, which endless ones do not allow. */
  tasks?: number
  /** Looks at what was opened before anything is written; what it throws refuses the run. */
  onOpened?: (opened: OpenedRun) => void
}

/** A new run of rollouts; its folder must not be there yet. */
export interface RolloutRunOptions
  extends RolloutControl,
    Pick<
      RunOptions,
      'env' | 'options' | 'limits' | 'sampling' | 'seed' | 'harness' | 'isolation' | 'sandbox'
    > {}

/** A run of rollouts that is taken up where it stands. */
export interface RolloutResumeOptions
  extends RolloutControl,
    Pick<ResumeOptions, 'env' | 'force' | 'sandbox'> {}

/** A rollout that has ended, as whoever learns from it wants it. */
export interface Rollout {
  order: OrderRecord
  attempt: Omit<AttemptRecord, 'parts' | 'final'>
  trajectory: TrajectoryRecord
  /** The attempt's part of `tokens.bin`. */
  tokens: Uint8Array | undefined
  /** How it was graded, component by component, before its group was; undefined where it was not. */
  verdict(): VerdictRecord | undefined
}

/**
 * A run without a plan in which a model plays: what is ordered is decided as it goes, and what comes of it is at hand
 * without reading it back. Otherwise an ordinary run.
 */
export interface RolloutRun {
  readonly dir: string
  readonly manifest: GrowingRun['manifest']
  readonly opened: OpenedRun
  /** What it was opened with; of a run that was taken up, as its records say it. */
  readonly options: RunOptions
  readonly tasks: readonly TaskSummary[]
  /** What the run held when it was taken up, in the order of its plan; nothing for a new one. */
  readonly before: readonly OrderState<AttemptRecord>[]
  /** Orders a group of rollouts of a task: written to the plan when it resolves. */
  orderGroup(task: TaskSummary, options: OrderOptions & { size: number }): Promise<OrderRecord[]>
  /**
   * Plays an order to its end. Faults that may pass are tried again in fresh attempts; the last one is what it came to.
   * Undefined when the run was stopped before: the order is open then. Rejects when it cannot be recorded (`disk_full`,
   * `journal_io`), and never for what comes of it.
   */
  play(order: OrderRecord): Promise<Rollout | undefined>
  /** Gives a group that is whole the rewards that need all of it, where the environment has such. */
  gradeGroup(rollouts: readonly Rollout[]): Promise<Rollout[]>
  /** What an order came to that was played before the run was taken up. Throws `run_corrupt`. */
  read(state: OrderState<AttemptRecord>): Promise<Rollout>
  /**
   * Plays tasks once more in an ordinary run of its own, whose folder must not be there yet, without opening the environment
   * again: to measure the model as it is. Throws as a run does.
   */
  measure(options: MeasureOptions): Promise<RunEnd>
  /** Cancels what is being played and starts nothing more; what was ordered stays in the plan. */
  stop(): void
  /** Writes out what was played. Rejects as `Journal.flush`. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** A run beside a run of rollouts. */
export interface MeasureOptions extends Pick<RunOptions, 'repeats' | 'sampling' | 'signal' | 'graceMs'> {
  dir: string
  tasks: readonly string[]
  /** What the records call the model, which may be another from one measurement to the next. */
  policy?: string
}

const concurrencyDefault = 512

/** Opens an environment for a model that plays what is ordered. Throws as a run does, before anything is ordered. */
export async function openRolloutRun(options: RolloutRunOptions): Promise<RolloutRun> {
  const { model, seats, onOpened, ...given } = options
  const runOptions: RunOptions = {
    concurrency: concurrencyDefault,
    ...given,
    seats: { ...seats, agent: { model } },
  }
  checkRunOptions(runOptions)
  const dir = resolve(options.cwd ?? '.', options.dir)
  const opened = await openRun(runOptions)
  let journal: Journal | undefined
  try {
    onOpened?.(opened)
    const request = requestOf({ tasks: 0 })
    journal = await Journal.create(dir, manifestOf(runOptions, opened, request, dir, []))
    await recordFiles(dir, opened)
    await openLogs(dir, opened)
    await journal.appendOrders([request])
    return new Rollouts(opened, journal, runOptions)
  } catch (error) {
    await closeRun({ opened, journal })
    throw error
  }
}

/** Takes a run of rollouts up. Throws `run_not_found`, `run_locked`, `run_mismatch` and as a run does. */
export async function resumeRolloutRun(options: RolloutResumeOptions): Promise<RolloutRun> {
  checkControl(options)
  const dir = resolve(options.cwd ?? '.', options.dir)
  const { model, seats, tasks, onOpened, ...control } = options
  const manifest = await readManifest(dir)
  const players = { ...seats, agent: { model } }
  const taken: RunOptions = {
    ...runOptionsOf(manifest, { ...control, players }, dir),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.boxes === undefined ? {} : { boxes: options.boxes }),
    concurrency: options.concurrency ?? concurrencyDefault,
    maxTries: options.maxTries ?? manifest.maxTries,
    ...(tasks === undefined ? {} : { tasks }),
  }
  const { journal, fold } = await Journal.open(dir)
  let opened: OpenedRun | undefined
  try {
    opened = await openRun(taken)
    onOpened?.(opened)
    await checkSame(dir, manifest, opened, options.force ?? false)
    await openLogs(dir, opened)
    for (const { file, what, detail } of fold.issues) opened.log.write(`${file}: ${what}: ${detail}\n`)
    return new Rollouts(opened, journal, taken, fold.states)
  } catch (error) {
    await closeRun({ opened, journal })
    throw error
  }
}

async function openLogs(dir: string, opened: OpenedRun): Promise<void> {
  await opened.log.to(resolve(dir, 'private', 'worker.log'))
  opened.boxes.store.keepIn(resolve(dir, 'private', 'artefacts'))
}

/** What the grader of a group wants of a member beside its rollout. */
interface GroupEvidence {
  verdict: VerdictRecord
  state: unknown
}

class Rollouts extends GrowingRun implements RolloutRun {
  readonly options: RunOptions
  readonly before: readonly OrderState<AttemptRecord>[]
  private readonly maxTries: number
  private free: number
  private readonly waiting: (() => void)[] = []
  private readonly pauses = new Set<() => void>()
  private stopped = false
  /** By attempt, of those that wait for the verdict of their group. */
  private readonly evidence = new Map<string, GroupEvidence>()
  /** Tries of orders before the run was taken up. */
  private readonly tries: ReadonlyMap<string, number>

  constructor(
    opened: OpenedRun,
    journal: Journal,
    options: RunOptions,
    before: readonly OrderState<AttemptRecord>[] = [],
  ) {
    super(
      opened,
      journal,
      before.map(({ order }) => order),
    )
    this.before = before
    this.tries = new Map(before.map(({ order, tries }) => [order.id, tries]))
    this.options = options
    this.free = options.concurrency ?? concurrencyDefault
    this.maxTries = options.maxTries ?? 3
  }

  async orderGroup(
    task: TaskSummary,
    { size, ...options }: OrderOptions & { size: number },
  ): Promise<OrderRecord[]> {
    const orders = Array.from({ length: size }, () => this.order(task, options))
    await this.plan(...orders)
    return orders
  }

  async play(order: OrderRecord): Promise<Rollout | undefined> {
    const before = this.tries.get(order.id) ?? 0
    for (let tries = 1; ; tries++) {
      await this.place()
      if (this.stopped) return undefined
      const output = await this.opened.executor
        .run({ order, try: before + tries })
        .finally(() => this.leave())
      const { fault, outcome } = output.attempt
      const again =
        fault !== null && outcome !== 'cancelled' && !this.stopped && tries < triesFor(fault, this.maxTries)
      // A fault of a run that is being stopped leaves its order open for the next start.
      const leftOpen = fault?.retryable === true && this.stopped
      const final = outcome !== 'cancelled' && !again && !leftOpen
      this.journal.appendAttempt({ ...output, attempt: { ...output.attempt, final } })
      if (final) return this.rollout(order, output)
      if (!again) return undefined
      await this.pause(backoffMs(fault, tries))
    }
  }

  async gradeGroup(rollouts: readonly Rollout[]): Promise<Rollout[]> {
    const open = rollouts.filter(({ attempt }) => attempt.verdict?.pending === 'group')
    if (open.length === 0) return [...rollouts]
    const members = rollouts.flatMap(({ order, attempt, trajectory }) => {
      const found = this.evidence.get(attempt.id)
      if (found === undefined || attempt.verdict === null || !isOwnVerdictWhole(attempt)) return []
      const { id, outcome, stop, counts, verdict } = attempt
      const of = { attempt: id, order: order.id, seq: order.seq, index: order.index }
      return { ...of, trajectory, ...found, outcome: outcome!, stop, turns: counts.turns, summary: verdict }
    })
    const graded = await gradeWholeGroup(
      { executor: this.opened.executor, journal: this.journal },
      members,
      open.map(({ order, attempt }) => ({
        attempt: attempt.id,
        order: order.id,
        seq: order.seq,
        verdict: attempt.verdict,
      })),
    )
    const byAttempt = new Map(graded.map((one) => [one.attempt, one]))
    return rollouts.map((rollout) => {
      const { attempt } = rollout
      this.evidence.delete(attempt.id)
      const verdict = byAttempt.get(attempt.id)
      if (verdict === undefined) return rollout
      return { ...rollout, attempt: { ...attempt, verdict: verdict.verdict, fault: verdict.fault } }
    })
  }

  async read({ order, chosen }: OrderState<AttemptRecord>): Promise<Rollout> {
    const { parts: _, final: __, ...attempt } = chosen!
    const [trajectory, tokens, verdict] = await Promise.all([
      readTrajectory(this.dir, chosen!),
      readTokens(this.dir, chosen!),
      readVerdict(this.dir, chosen!),
    ])
    if (attempt.verdict?.pending === 'group') {
      const hidden = await readPrivate(this.dir, chosen!)
      if (verdict !== undefined) this.evidence.set(attempt.id, { verdict, state: hidden?.state ?? null })
      // What its group's grader could not do before it tries again.
      if (attempt.fault?.stage === 'group') attempt.fault = null
    }
    return { order, attempt, trajectory, tokens, verdict: () => verdict }
  }

  async measure({ policy, ...options }: MeasureOptions): Promise<RunEnd> {
    const { seats } = this.options
    const agent = seats['agent']
    const named =
      policy === undefined || agent === undefined || !('model' in agent)
        ? seats
        : { ...seats, agent: { model: called(agent.model, policy) } }
    const runOptions = { ...this.options, seats: named, ...options }
    // What its boxes leave behind belongs to its own folder.
    if (this.opened.sandbox !== undefined) return startRun(runOptions)
    const request = requestOf(runOptions)
    const policies = policiesOf(this.opened.seats, policy)
    const manifest = manifestOf(runOptions, { ...this.opened, seats: policies }, request, options.dir, [])
    const journal = await Journal.create(options.dir, manifest)
    try {
      await recordFiles(options.dir, this.opened)
      const places = new Places([])
      const tasks = selectForRequest(this.opened.tasks, request)
      await appendPlan(journal, tasks, request, new Map(), places)
      const stop = await schedule({
        ...controlOf(runOptions, this.opened, places.end),
        executor: lent(this.opened.executor, options.sampling ?? {}),
        journal,
        standing: new Standing(places.end),
        orders: places.end,
      })
      return { dir: options.dir, manifest, ...(stop === undefined ? {} : { stop }) }
    } finally {
      await journal.close()
    }
  }

  stop(): void {
    this.stopped = true
    for (const wake of [...this.waiting.splice(0), ...this.pauses]) wake()
    this.opened.executor.cancel()
  }

  private rollout(
    order: OrderRecord,
    { attempt, trajectory, tokens, verdict, ...parts }: AttemptOutput,
  ): Rollout {
    if (attempt.verdict?.pending === 'group') {
      const hidden = parts.private && (lineOf(parts.private) as PrivateRecord)
      this.evidence.set(attempt.id, {
        verdict: lineOf(verdict!) as VerdictRecord,
        state: hidden?.state ?? null,
      })
    }
    return {
      order,
      attempt,
      trajectory: lineOf(trajectory) as TrajectoryRecord,
      tokens: tokens?.bytes,
      verdict: () => verdict && (lineOf(verdict) as VerdictRecord),
    }
  }

  /** Resolves when a further attempt may start, and takes its place; first come, first served. */
  private async place(): Promise<void> {
    await this.journal.ready()
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  private leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.free++
    else next()
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.pauses.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      this.pauses.add(end)
    })
  }
}

/** A model by another name; who opened it closes it. */
function called(model: Model, id: string): Model {
  return {
    id,
    ...(model.priced === undefined ? {} : { priced: model.priced }),
    ...(model.costOf === undefined ? {} : { costOf: (usage) => model.costOf?.(usage) ?? null }),
    generate: (request, context) => model.generate(request, context),
  }
}

function policiesOf(seats: OpenedRun['seats'], policy: string | undefined): OpenedRun['seats'] {
  return policy === undefined ? seats : { ...seats, agent: { kind: 'model', id: policy } }
}

/** An executor for another run beside its own; who opened it closes it. */
function lent(executor: Executor, sampling: Sampling): Executor {
  return {
    description: executor.description,
    list: (query) => executor.list(query),
    probe: (index) => executor.probe(index),
    run: (job) => executor.run({ ...job, sampling }),
    gradeGroup: (members) => executor.gradeGroup(members),
    cancel: () => executor.cancel(),
    close: async () => executor.cancel(),
  }
}

function lineOf({ bytes }: { bytes: Uint8Array }): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}
