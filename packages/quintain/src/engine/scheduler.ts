import {
  type AttemptRecord,
  type Fault,
  foldRun,
  type Journal,
  type OrderRecord,
  planOf,
  readPrivate,
  readTrajectory,
  readVerdict,
} from '../core/index.ts'
import { clearTimeout, now as ownNow, setTimeout } from '../core/own-time.ts'
import type { AttemptOutput } from './attempt.ts'
import type { Executor } from './executor.ts'
import { gradeWholeGroup } from './grade-group.ts'
import { type Lane, spendStop } from './pace.ts'
import { type Progress, ProgressCounter } from './progress.ts'
import type { Job } from './protocol.ts'
import { backoffMs, triesFor } from './retries.ts'

export interface ScheduleOptions {
  journal: Journal
  executor: Executor
  /** Orders by place in the plan that need nothing more, and the tries of the others. */
  standing: Standing
  orders: number
  concurrency: number
  /** Tries of an order, the first one included. */
  maxTries: number
  /** Stop ordering, let what runs finish within `graceMs`, then cancel it. */
  signal?: AbortSignal
  /** Stop at once. */
  hardSignal?: AbortSignal
  graceMs: number
  /** US dollars at which no further order is started. */
  maxCostUsd?: number
  /** What was recorded of an order, for `recorded` policies. */
  recorded?(order: OrderRecord): Pick<Job, 'replies' | 'calls' | 'cuts'>
  onProgress?(progress: Progress): void
  /** Counts what was finished before this process took the run up. */
  before?(counter: ProgressCounter): void
  /** The environment has group rewards. */
  groups: boolean
  /** Its place among runs that take turns. */
  lane?: Lane
}

/** Why a run ended before its plan was done. */
export interface RunStop {
  code: 'cancelled' | 'spend_cap' | 'only_faults' | 'decided'
  message: string
}

/** Which orders are finished, by place: one byte an order, so that memory does not grow with what is known of them. */
export class Standing {
  private readonly bytes: Uint8Array
  private readonly seen: Uint8Array
  constructor(orders: number) {
    this.bytes = new Uint8Array(orders)
    this.seen = new Uint8Array(orders)
  }
  /** True the first time: an order that was planned again after a torn tail stands in the file twice. */
  meet(seq: number): boolean {
    if (this.seen[seq] !== 0) return false
    this.seen[seq] = 1
    return true
  }
  finish(seq: number): void {
    this.bytes[seq] = 255
  }
  finished(seq: number): boolean {
    return this.bytes[seq] === 255
  }
  setTries(seq: number, tries: number): void {
    this.bytes[seq] = Math.min(254, tries)
  }
  tries(seq: number): number {
    const value = this.bytes[seq] ?? 0
    return value === 255 ? 0 : value
  }
}

/** A run in which nothing but faults came back for this many orders is stopped: more of the same helps nobody. */
const onlyFaultsLimit = 30
const progressEveryMs = 100
/** Retries that may wait for their time, above the concurrency, before no further order is started. */
const mostWaitingRetries = 256

/** Works through the plan: starts orders, records attempts, tries faults again, grades groups. Resolves when nothing more can be done. */
export async function schedule(options: ScheduleOptions): Promise<RunStop | undefined> {
  return new Scheduler(options).run()
}

class Scheduler {
  private readonly options: ScheduleOptions
  private readonly progress: ProgressCounter
  private running = 0
  private readonly retries: { job: Job; at: number }[] = []
  private stop: RunStop | undefined
  private failure: unknown
  private wake: (() => void) | undefined
  private lastProgress = 0
  private faultsInARow = 0
  private sawResult = false
  /** Faults by owner and code until the first result. */
  private readonly firstFaults = new Map<string, { count: number; message: string }>()

  constructor(options: ScheduleOptions) {
    this.options = options
    this.progress = new ProgressCounter(options.orders)
    const { lane } = options
    if (lane === undefined) return
    lane.wake = () => this.wake?.()
    lane.halt = (stop) => this.halt(stop)
  }

  async run(): Promise<RunStop | undefined> {
    const { signal, hardSignal, executor, journal } = this.options
    const soft = () => this.halt({ code: 'cancelled', message: 'the run was cancelled' })
    const hard = () => {
      soft()
      void executor.close()
    }
    if (signal?.aborted) soft()
    if (hardSignal?.aborted) hard()
    signal?.addEventListener('abort', soft)
    hardSignal?.addEventListener('abort', hard)
    let grace: NodeJS.Timeout | undefined
    try {
      this.options.before?.(this.progress)
      this.watchSpend()
      await this.dispatch().catch((error: unknown) => {
        this.failure ??= error
      })
      this.options.lane?.finish()
      if (this.stop !== undefined && this.running > 0) {
        grace = setTimeout(() => executor.cancel(), this.options.graceMs)
      }
      await this.drain()
      if (this.failure !== undefined) throw this.failure
      await journal.flush()
      // Groups that are whole are graded although the run was stopped: their rollouts are paid for.
      if (this.options.groups && hardSignal?.aborted !== true) await this.gradeGroups()
      await journal.flush()
      this.report(true)
      return this.stop
    } finally {
      clearTimeout(grace)
      this.options.lane?.finish()
      signal?.removeEventListener('abort', soft)
      hardSignal?.removeEventListener('abort', hard)
    }
  }

  /** Reads the plan from its file and keeps `concurrency` orders running; retries that are due go first. */
  private async dispatch(): Promise<void> {
    const { standing, journal, lane } = this.options
    for await (const order of plannedOrders(journal.dir, standing)) {
      await this.room(order.seq)
      if (this.stop !== undefined || this.failure !== undefined) return
      lane?.passed(order.seq)
      this.start({ order, try: standing.tries(order.seq) + 1, ...this.options.recorded?.(order) })
    }
    // Others need not wait for the retries of this run.
    lane?.finish()
    while (this.running > 0 || this.retries.length > 0) {
      if (this.stop !== undefined || this.failure !== undefined) return
      if (!this.startDue()) await this.change()
    }
  }

  /** Resolves when the order in that place may start. */
  private async room(seq: number): Promise<void> {
    const { journal, concurrency, lane } = this.options
    await journal.ready()
    while (this.stop === undefined && this.failure === undefined) {
      if (this.startDue()) continue
      // Where everything fails, retries would otherwise gather as fast as orders can be read.
      const full = !this.isFree() || this.retries.length >= concurrency + mostWaitingRetries
      if ((lane?.isTurn(seq) ?? true) && !full) return
      await this.change()
    }
  }

  private isFree(): boolean {
    const { concurrency, lane } = this.options
    return this.running < concurrency && (lane?.free() ?? true)
  }

  /** Starts a retry whose time has come; false when there is none, or no room. */
  private startDue(): boolean {
    if (!this.isFree()) return false
    const now = ownNow()
    const at = this.retries.findIndex((retry) => retry.at <= now)
    if (at < 0) return false
    const [retry] = this.retries.splice(at, 1)
    this.start(retry!.job)
    return true
  }

  /** Resolves at the next end of an attempt, or when the next retry is due. */
  private change(): Promise<void> {
    return new Promise((resolve) => {
      const next = this.retries.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY)
      const timer =
        this.isFree() && Number.isFinite(next)
          ? setTimeout(() => this.wake?.(), Math.max(1, next - ownNow()))
          : undefined
      this.wake = () => {
        clearTimeout(timer)
        this.wake = undefined
        resolve()
      }
    })
  }

  private async drain(): Promise<void> {
    if (this.failure !== undefined) await this.options.executor.close()
    while (this.running > 0) await this.change()
  }

  private start(job: Job): void {
    this.running++
    this.options.lane?.occupy()
    const ended = (record: () => void): void => {
      try {
        record()
      } catch (error) {
        this.failure ??= error
      }
      this.running--
      this.options.lane?.release()
      this.wake?.()
    }
    this.options.executor.run(job).then(
      (output) => ended(() => this.finished(job, output)),
      (error: unknown) =>
        ended(() => {
          throw error
        }),
    )
    this.report(false)
  }

  private finished(job: Job, output: AttemptOutput): void {
    const { fault, outcome } = output.attempt
    const again =
      fault !== null &&
      outcome !== 'cancelled' &&
      this.stop === undefined &&
      this.triesHere(job) < triesFor(fault, this.options.maxTries)
    // A fault of a run that is being stopped leaves its order open for the next start.
    const leftOpen = fault?.retryable === true && this.stop !== undefined
    const final = outcome !== 'cancelled' && !again && !leftOpen
    this.options.journal.appendAttempt({ ...output, attempt: { ...output.attempt, final } })
    this.progress.attempt(output.attempt, final)
    if (again) {
      this.retries.push({ job: { ...job, try: job.try + 1 }, at: ownNow() + backoffMs(fault, job.try) })
    } else if (final) {
      this.options.standing.finish(job.order.seq)
      this.options.lane?.ended(job.order, output.attempt)
    }
    this.watchFaults(fault, final)
    this.watchSpend()
    this.report(false)
  }

  /** Tries of an order by this process: an order that is resumed has its whole budget again. */
  private triesHere(job: Job): number {
    return job.try - this.options.standing.tries(job.order.seq)
  }

  private watchFaults(fault: Fault | null, final: boolean): void {
    if (fault === null) {
      this.sawResult = true
      return
    }
    if (!final || this.sawResult) return
    const name = `${fault.owner}/${fault.code}`
    const met = this.firstFaults.get(name) ?? { count: 0, message: fault.message }
    met.count++
    this.firstFaults.set(name, met)
    if (++this.faultsInARow < onlyFaultsLimit) return
    // A lost worker is the consequence of something; what it is of says more.
    const weight = ([of, { count }]: [string, { count: number }]) => (of.endsWith('/worker_lost') ? 0 : count)
    const [top, { count, message }] = [...this.firstFaults].sort((a, b) => weight(b) - weight(a))[0]!
    this.halt({
      code: 'only_faults',
      message: `the first ${onlyFaultsLimit} orders all ended in faults, ${count} of them in ${top}: ${message}`,
    })
  }

  private watchSpend(): void {
    const { maxCostUsd, lane } = this.options
    const { knownUsd, unpriced } = this.progress
    if (lane !== undefined) lane.spend(knownUsd, unpriced)
    else if (maxCostUsd !== undefined && (unpriced || knownUsd >= maxCostUsd)) {
      this.halt(spendStop(maxCostUsd, knownUsd, unpriced))
    }
  }

  private halt(stop: RunStop): void {
    this.stop ??= stop
    this.wake?.()
  }

  private report(force: boolean): void {
    const { onProgress } = this.options
    if (onProgress === undefined) return
    const now = ownNow()
    if (!force && now - this.lastProgress < progressEveryMs) return
    this.lastProgress = now
    try {
      onProgress(this.progress.snapshot(this.running))
    } catch {
      // A display that breaks must not cost the run.
      this.lastProgress = Number.POSITIVE_INFINITY
    }
  }

  /** Grades every group whose members are all finished and whose verdicts are still open. */
  private async gradeGroups(): Promise<void> {
    const { journal } = this.options
    const fold = await foldRun(journal.dir)
    const groups = new Map<string, (typeof fold.states)[number][]>()
    for (const state of fold.states) {
      const members = groups.get(state.order.group)
      if (members === undefined) groups.set(state.order.group, [state])
      else members.push(state)
    }
    for (const states of groups.values()) {
      const open = states.filter((state) => state.chosen?.verdict?.pending === 'group')
      if (open.length === 0) continue
      const unfinished = states.some(
        (state) =>
          state.chosen === undefined ||
          state.status === 'cancelled' ||
          (state.status === 'pending' && !open.includes(state)),
      )
      if (unfinished) continue
      const graded = states.filter(({ chosen }) => chosen?.verdict != null && isOwnVerdictWhole(chosen))
      const members = await Promise.all(
        graded.map((state) => memberOf(journal.dir, state.order, state.chosen!)),
      )
      const waiting = open.map(({ order, chosen }) => ({
        attempt: chosen!.id,
        order: order.id,
        seq: order.seq,
        verdict: chosen!.verdict,
      }))
      for (const { verdict, fault } of await gradeWholeGroup(this.options, members, waiting)) {
        this.progress.grouped(fault === null ? verdict : null)
      }
      await journal.ready()
    }
  }
}

/** Whether an attempt was graded itself: a fault of its group's grader takes nothing from that. */
export function isOwnVerdictWhole({ fault }: { fault: Fault | null }): boolean {
  return fault === null || fault.stage === 'group'
}

async function memberOf(dir: string, order: OrderRecord, attempt: AttemptRecord) {
  const [trajectory, verdict, hidden] = await Promise.all([
    readTrajectory(dir, attempt),
    readVerdict(dir, attempt),
    readPrivate(dir, attempt),
  ])
  return {
    attempt: attempt.id,
    order: order.id,
    seq: order.seq,
    index: order.index,
    trajectory,
    state: hidden?.state ?? null,
    outcome: attempt.outcome!,
    stop: attempt.stop,
    turns: attempt.counts.turns,
    verdict: verdict!,
    summary: attempt.verdict!,
  }
}

/** The orders of a plan that are not finished, read as they are needed. */
async function* plannedOrders(dir: string, standing: Standing): AsyncGenerator<OrderRecord, void, undefined> {
  for await (const order of planOf(dir)) {
    if (order.schema !== 'quintain.order' || !standing.meet(order.seq)) continue
    if (!standing.finished(order.seq)) yield order
  }
}
