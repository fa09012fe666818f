import {
  type Fault,
  FaultError,
  type Model,
  type ModelContext,
  ModelFault,
  type ModelResponse,
  messageOf,
  type Need,
  type Permissions,
  QuintainError,
  type Seat,
} from '../core/index.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { agentBox } from './agent-box.ts'
import {
  type AttemptOutput,
  type AttemptStart,
  cancelledAttempt,
  faultedAttempt,
  startNow,
} from './attempt.ts'
import type { BoxDesk, BoxWindow } from './box-desk.ts'
import { boxOwner, probeOwner } from './box-protocol.ts'
import type { Executor } from './executor.ts'
import { needsIn, outputProblem, verdictsIn } from './from-worker.ts'
import type { EnvironmentLocation } from './locate.ts'
import type { SeatPlayers } from './play.ts'
import { PlayDesk } from './play-desk.ts'
import { spentUnseen } from './policy.ts'
import type {
  BoxMessage,
  CallMessage,
  FromWorker,
  GroupMemberData,
  GroupVerdict,
  HostDescription,
  HostSpec,
  Job,
  TaskQuery,
  WireError,
  WireFault,
} from './protocol.ts'
import { hideKeys } from './redact.ts'
import { StepFailure } from './step.ts'
import type { TaskSummary } from './taskset.ts'
import { type WorkerEnd, WorkerProcess } from './worker-process.ts'

/** An environment has this long to load its modules and its tasks. */
const openMs = 600_000

function openedTooLate(name: string): QuintainError {
  return new QuintainError(
    'environment_load_failed',
    `${name} was not loaded within ${openMs / 1000} s; look at what its module or its tasks wait for.`,
  )
}

export interface PoolOptions {
  location: EnvironmentLocation
  spec: HostSpec
  /** The models behind seats that have one: two seats may have different models of one name. */
  models: ReadonlyMap<Seat, Model>
  workers: number
  /** Rollouts in flight over all workers. */
  concurrency: number
  /** Holds the boxes of its attempts. */
  boxes: BoxDesk
  /** Plays the seats whose harness runs in this process. */
  outside?: SeatPlayers
  /** Whoever serves many clients answers all of them first: a world that computes holds up nobody else's. */
  workersGiveWay: boolean
  log(text: string): void
  /** Told when a worker was lost and replaced. */
  onLost?(end: WorkerEnd): void
}

interface RunningJob {
  job: Job
  start: AttemptStart
  resolve(output: AttemptOutput): void
}

/** So many orders of a worker that was lost for a reason unknown are tried again each in a process of its own; more are first tried in cells. */
const mostAlone = 16
/** A pool whose workers die before they run anything is broken, not unlucky. */
const mostLostStarts = 3

/** Runs attempts in worker processes. A worker that crashes or blocks is replaced, and only its attempts are affected. */
export async function openPool(options: PoolOptions): Promise<Executor & { readonly pids: number[] }> {
  const pool = new Pool(options)
  try {
    await pool.open()
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

class Pool implements Executor {
  description!: HostDescription
  private readonly options: PoolOptions
  private permissions: Permissions = {}
  private readonly workers: PoolWorker[] = []
  /** Orders that were on a worker which was lost for a reason unknown, and how many of them may share a process next. */
  private readonly suspects = new Map<number, number>()
  /** Orders that were lost once to another order's doing. */
  private readonly lostBefore = new Set<number>()
  private readonly cells = new Set<Cell>()
  private readonly cellWaiters: (() => void)[] = []
  private readonly starting = new Set<Promise<unknown>>()
  private lostStarts = 0
  private closed = false

  constructor(options: PoolOptions) {
    this.options = options
  }

  get pids(): number[] {
    return this.workers.flatMap((worker) => worker.pid ?? [])
  }

  /** Starts one worker, asks what the environment may touch, and starts the others with just that. */
  async open(): Promise<void> {
    const first = await this.startWorker()
    this.description = first.description
    const wanted = first.description.permissions
    if (Object.values(wanted).some((value) => value === true || (Array.isArray(value) && value.length > 0))) {
      this.permissions = wanted
      await first.kill()
      this.workers.length = 0
    }
    const missing = this.options.workers - this.workers.length
    await Promise.all(Array.from({ length: missing }, () => this.startWorker()))
    this.description = this.workers[0]!.description
  }

  async *list(query: TaskQuery): AsyncGenerator<TaskSummary[], void, undefined> {
    yield* (await this.anyWorker()).list(query)
  }

  async probe(index: number): Promise<Need[]> {
    const given = await (await this.anyWorker()).probe(index)
    return needsIn(given) ?? notAnAnswer('what an environment needs')
  }

  async gradeGroup(members: readonly GroupMemberData[]): Promise<GroupVerdict[]> {
    const given = await (await this.anyWorker()).ask((id) => ({ t: 'group', id, members: [...members] }))
    return verdictsIn(given) ?? notAnAnswer('the rewards of a group')
  }

  run(job: Job): Promise<AttemptOutput> {
    const quiet = this.workers.length > 0 && this.suspects.size + this.lostBefore.size === 0
    return quiet ? this.leastBusy().run(job) : this.runWatched(job)
  }

  /** Runs an order of a pool in which workers are missing, or were lost. */
  private async runWatched(job: Job): Promise<AttemptOutput> {
    try {
      const sharing = this.suspects.get(job.order.seq)
      if (sharing !== undefined) return await this.runApart(job, sharing)
      const output = await (await this.anyWorker()).run(job)
      if (this.lostBefore.size > 0 && output.attempt.fault?.code !== 'worker_lost')
        this.lostBefore.delete(job.order.seq)
      return output
    } catch (error) {
      return this.noWorkers(job, error)
    }
  }

  cancel(): void {
    for (const worker of this.all()) worker.cancel()
  }

  async close(): Promise<void> {
    this.closed = true
    await Promise.all(this.all().map((worker) => worker.kill()))
    this.workers.length = 0
    for (const wake of this.cellWaiters.splice(0)) wake()
    await Promise.allSettled([...this.starting])
    await Promise.all(this.all().map((worker) => worker.kill()))
    await this.options.boxes.close()
    await this.options.outside?.close()
  }

  private all(): PoolWorker[] {
    return [...this.workers, ...[...this.cells].flatMap(({ worker }) => worker ?? [])]
  }

  /** The worker with the least to do, once there is one. Throws `worker_start_failed` when there will be none. */
  private async anyWorker(): Promise<PoolWorker> {
    while (this.workers.length === 0) {
      if (this.closed) throw runStopped()
      if (this.starting.size === 0) {
        throw new QuintainError('worker_start_failed', 'Workers end before they run anything.')
      }
      await Promise.race([...this.starting]).catch(() => {})
    }
    return this.leastBusy()
  }

  private leastBusy(): PoolWorker {
    let best = this.workers[0]!
    for (const worker of this.workers) if (worker.load < best.load) best = worker
    return best
  }

  /**
   * Another run of an order whose worker was lost, in a process that it shares with a few others of that worker, or
   * with none: an order that takes a process of its own down is to blame, and the others are not.
   */
  private async runApart(job: Job, sharing: number): Promise<AttemptOutput> {
    const cell = await this.cellFor(sharing)
    try {
      const worker = await cell.opened
      if (this.closed) {
        await worker.kill()
        throw runStopped()
      }
      const output = await worker.run(job)
      if (output.attempt.fault?.code !== 'worker_lost') this.suspects.delete(job.order.seq)
      return output
    } finally {
      if (--cell.running === 0) this.leave(cell)
    }
  }

  /** A place in a cell. As many cells are open at a time as there are workers. */
  private async cellFor(sharing: number): Promise<Cell> {
    for (;;) {
      if (this.closed) throw runStopped()
      for (const cell of this.cells) {
        if (cell.sharing === sharing && cell.taken < sharing) {
          cell.taken++
          cell.running++
          return cell
        }
      }
      if (this.cells.size < Math.max(2, this.options.workers)) {
        const opened = this.spawn()
        const cell: Cell = { sharing, taken: 1, running: 1, opened }
        this.cells.add(cell)
        opened.then(
          (worker) => {
            cell.worker = worker
          },
          () => {},
        )
        return cell
      }
      await new Promise<void>((resolve) => this.cellWaiters.push(resolve))
    }
  }

  /** Ends a cell's process, so that nothing that its orders left running meets the next ones. */
  private leave(cell: Cell): void {
    if (!this.cells.delete(cell)) return
    void cell.worker?.kill()
    for (const wake of this.cellWaiters.splice(0)) wake()
  }

  private noWorkers(job: Job, error: unknown): AttemptOutput {
    return faultedAttempt(job.order, job.try, {
      owner: 'platform',
      stage: 'worker',
      code: this.closed ? 'run_stopped' : 'worker_start_failed',
      message: messageOf(error),
      retryable: this.closed,
    })
  }

  private startWorker(): Promise<PoolWorker> {
    const start = this.spawn().then((worker) => {
      this.workers.push(worker)
      return worker
    })
    this.starting.add(start)
    return start.finally(() => this.starting.delete(start))
  }

  private spawn(): Promise<PoolWorker> {
    return PoolWorker.start(this.options, this.permissions, (worker, end, jobs, idle) =>
      this.lost(worker, end, jobs, idle),
    )
  }

  private lost(worker: PoolWorker, end: WorkerEnd, jobs: RunningJob[], idle: boolean): void {
    const cell = [...this.cells].find((one) => one.worker === worker)
    const alone = cell?.sharing === 1
    const at = this.workers.indexOf(worker)
    if (at >= 0) this.workers.splice(at, 1)
    // Nobody else is put into a cell that is gone.
    if (cell !== undefined) cell.taken = cell.sharing
    this.options.onLost?.(end)
    this.options.log(`worker lost: ${end.how}, ${end.detail}\n`)

    const known = jobs.some(({ job }) => job.order.seq === end.seq)
    const sharing = jobs.length <= mostAlone ? 1 : Math.ceil(Math.sqrt(jobs.length))
    for (const { job } of jobs) {
      const { seq } = job.order
      if (alone || seq === end.seq) {
        this.suspects.delete(seq)
        this.lostBefore.delete(seq)
      } else if (!known) this.suspects.set(seq, sharing)
      // Where many orders end their workers, the others would be lost with them again and again.
      else if (this.lostBefore.has(seq)) this.suspects.set(seq, 1)
      else this.lostBefore.add(seq)
    }
    for (const { job, start, resolve } of jobs) {
      const guilty = alone || job.order.seq === end.seq
      const fault: Fault = guilty
        ? {
            owner: end.stage === 'grade' || end.stage === 'group' ? 'grader' : 'world',
            stage: end.stage || 'worker',
            code: end.how === 'blocked' ? 'blocked' : 'crashed',
            message:
              end.how === 'blocked'
                ? `code of the environment held its process without a pause (${end.detail}); make it asynchronous or give it a longer limit`
                : `code of the environment ended its process (${end.detail})`,
            retryable: false,
          }
        : lostWith(end)
      resolve(faultedAttempt(job.order, job.try, fault, { start, costUsd: spentUnseen(this.options.spec) }))
    }
    if (this.closed || cell !== undefined) return
    if (idle && ++this.lostStarts > mostLostStarts) return
    if (!idle) this.lostStarts = 0
    this.startWorker().catch((error) => this.options.log(`worker not replaced: ${messageOf(error)}\n`))
  }
}

/** A process beside the pool for orders that are under suspicion. */
interface Cell {
  /** How many orders it takes. */
  readonly sharing: number
  taken: number
  running: number
  readonly opened: Promise<PoolWorker>
  worker?: PoolWorker
}

/** Told of a worker's end, with the attempts that were on it; `idle` when it had nothing to do. */
type OnLost = (worker: PoolWorker, end: WorkerEnd, jobs: RunningJob[], idle: boolean) => void

/** A worker process that holds the environment. */
class PoolWorker {
  description!: HostDescription
  private readonly process: WorkerProcess
  private readonly models: ReadonlyMap<Seat, Model>
  /** What an attempt that is given up here has spent. */
  private readonly spent: number | null
  private readonly jobs = new Map<string, RunningJob>()
  private readonly asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  private readonly pages = new Map<number, (message: Extract<FromWorker, { t: 'tasks' }>) => void>()
  private readonly calls = new Map<number, AbortController>()
  private readonly boxes: BoxWindow
  private readonly boxCalls = new Map<number, AbortController>()
  private readonly plays: PlayDesk | undefined
  /** Attempts that may have boxes: those that run here, where the environment has any. */
  private readonly holders = new Set<string>()
  /** Worlds that are only looked at. */
  private probes = 0
  private nextId = 1
  /** How the process ended; nothing is sent to it then. */
  private gone: WorkerEnd | undefined
  private opened: { resolve(): void; reject(error: Error): void } | undefined

  private constructor(options: PoolOptions, permissions: Permissions, onLost: OnLost) {
    this.models = options.models
    this.boxes = options.boxes.window()
    this.plays =
      options.outside &&
      new PlayDesk({
        player: options.outside,
        send: (message, how) => this.process.send(message, how),
        boxOf: (owner, signal) => agentBox(this.boxes, owner, signal),
        log: options.log,
      })
    this.spent = spentUnseen(options.spec)
    this.process = new WorkerProcess({
      location: options.location,
      permissions,
      inFlight: options.concurrency / options.workers,
      log: options.log,
      onMessage: (message) => this.receive(message),
      onEnd: (end) => {
        const lost = new QuintainError(
          'worker_start_failed',
          `The process that loads ${options.location.name} ended (${end.how}: ${end.detail}).`,
          { facts: { ...end } },
        )
        const idle = this.jobs.size + this.asked.size + this.pages.size === 0
        this.gone = end
        for (const waiting of this.asked.values()) waiting.reject(lostAnswer(end, lost))
        this.asked.clear()
        for (const page of this.pages.values()) {
          page({
            t: 'tasks',
            id: 0,
            tasks: [],
            done: true,
            error: { code: lost.code, message: lost.message, facts: {} },
          })
        }
        for (const controller of this.calls.values()) controller.abort()
        this.plays?.endAll()
        void this.boxes.endAll()
        const jobs = [...this.jobs.values()]
        this.jobs.clear()
        if (this.opened !== undefined) this.opened.reject(lost)
        else onLost(this, end, jobs, idle)
      },
    })
  }

  static async start(options: PoolOptions, permissions: Permissions, onLost: OnLost): Promise<PoolWorker> {
    const worker = new PoolWorker(options, permissions, onLost)
    let timer: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        worker.opened = { resolve, reject }
        timer = setTimeout(() => reject(openedTooLate(options.location.name)), openMs)
        worker.process.send({ t: 'open', entry: options.location.entry, spec: options.spec })
      })
    } catch (error) {
      await worker.kill()
      throw error
    } finally {
      clearTimeout(timer)
    }
    worker.opened = undefined
    if (options.workersGiveWay) worker.process.giveWay()
    return worker
  }

  get pid(): number | undefined {
    return this.process.pid
  }

  get load(): number {
    return this.jobs.size
  }

  run(job: Job): Promise<AttemptOutput> {
    if (this.gone !== undefined)
      return Promise.resolve(faultedAttempt(job.order, job.try, lostWith(this.gone)))
    return new Promise((resolve) => {
      this.jobs.set(job.order.id, { job, start: startNow(), resolve })
      if (this.description.sandbox !== undefined) this.holders.add(boxOwner(job))
      this.plays?.expect(job)
      this.process.send({ t: 'jobs', jobs: [job] }, { patient: this.plays?.busy === true })
    })
  }

  ask(message: (id: number) => Parameters<WorkerProcess['send']>[0]): Promise<unknown> {
    if (this.gone !== undefined)
      return Promise.reject(new QuintainError('worker_start_failed', 'The worker is gone.'))
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      this.asked.set(id, { resolve, reject })
      this.process.send(message(id))
    })
  }

  async probe(index: number): Promise<unknown> {
    this.probes++
    try {
      return await this.ask((id) => ({ t: 'probe', id, index }))
    } finally {
      this.probes--
      await this.boxes.end(probeOwner)
    }
  }

  async *list(query: TaskQuery): AsyncGenerator<TaskSummary[], void, undefined> {
    const id = this.nextId++
    let deliver: (message: Extract<FromWorker, { t: 'tasks' }>) => void = () => {}
    const next = () =>
      new Promise<Extract<FromWorker, { t: 'tasks' }>>((resolve) => {
        deliver = resolve
      })
    this.pages.set(id, (message) => deliver(message))
    try {
      let page = next()
      this.process.send({ t: 'list', id, query })
      for (;;) {
        const message = await page
        if (message.error !== undefined) throw errorOf(message.error)
        if (message.tasks.length > 0) yield message.tasks
        if (message.done) return
        page = next()
        this.process.send({ t: 'more', id })
      }
    } finally {
      this.pages.delete(id)
    }
  }

  cancel(): void {
    this.process.send({ t: 'cancel' })
  }

  async kill(): Promise<void> {
    this.gone ??= { how: 'killed', detail: 'it was ended' }
    for (const controller of this.calls.values()) controller.abort()
    this.plays?.endAll()
    await this.process.kill()
    await this.boxes.endAll()
    for (const { job, start, resolve } of this.jobs.values()) {
      resolve(cancelledAttempt(job.order, job.try, { start, costUsd: this.spent }))
    }
    this.jobs.clear()
    const error = new QuintainError('worker_start_failed', 'The run was stopped.')
    for (const waiting of this.asked.values()) waiting.reject(error)
    this.asked.clear()
  }

  private receive(message: FromWorker): void {
    switch (message.t) {
      case 'done': {
        const { output } = message
        const running = this.jobs.get(output.attempt.order)
        if (running === undefined) return
        this.jobs.delete(output.attempt.order)
        const { job, start, resolve } = running
        this.plays?.end(job)
        this.endBoxes(job)
        const problem = outputProblem(output, job.order, job.try)
        // No record is made of what is not whole, and the order does not wait for another either.
        resolve(
          problem === undefined
            ? output
            : faultedAttempt(job.order, job.try, badOutput(problem), { start, costUsd: this.spent }),
        )
        return
      }
      case 'call':
        this.call(message)
        return
      case 'box':
        void this.box(message)
        return
      case 'box-abort':
        this.boxCalls.get(message.call)?.abort()
        return
      case 'play':
        this.plays?.begin(message)
        return
      case 'play-answer':
        this.plays?.answered(message)
        return
      case 'play-abort':
        this.plays?.abort(message.play)
        return
      case 'abort':
        this.calls.get(message.call)?.abort()
        return
      case 'tasks':
        this.pages.get(message.id)?.(message)
        return
      case 'answer': {
        const waiting = this.asked.get(message.id)
        this.asked.delete(message.id)
        if (message.fault !== undefined) waiting?.reject(new StepFailure(message.fault, ''))
        else if (message.error !== undefined) waiting?.reject(errorOf(message.error))
        else waiting?.resolve(message.value)
        return
      }
      case 'opened':
        // What was opened once stays as it was described.
        if (this.opened === undefined) return
        this.description = message.description
        this.opened.resolve()
        return
      case 'failed':
        this.opened?.reject(errorOf(message.error))
    }
  }

  /** A model call on behalf of a rollout: the only way from a worker to a provider. */
  private call(message: CallMessage): void {
    const { call } = message
    const controller = new AbortController()
    this.calls.set(call, controller)
    const { signal } = controller
    const tell = (reply: { response: ModelResponse } | { failure: WireFault }): void => {
      this.calls.delete(call)
      if (!signal.aborted) this.process.send({ t: 'reply', call, ...reply })
    }
    // Without `await`, so that no frame keeps the whole request for as long as the answer takes.
    this.generate(message, signal).then(
      (response) => tell({ response }),
      (thrown: unknown) => tell({ failure: wireFault(thrown) }),
    )
  }

  private generate(message: CallMessage, signal: AbortSignal): Promise<ModelResponse> {
    const { call, attempt, task, repeat, seat } = message
    const model = this.models.get(seat)
    if (model === undefined) return Promise.reject(new Error(`no model "${message.model}" in this run`))
    try {
      const onWait = this.waitOf(call)
      return Promise.resolve(model.generate(message.request, { signal, attempt, task, repeat, seat, onWait }))
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  private endBoxes(job: Job): void {
    if (this.description.sandbox === undefined) return
    this.holders.delete(boxOwner(job))
    void this.boxes.end(boxOwner(job))
  }

  /** What an attempt asks of its boxes. Only those that run here have any. */
  private async box({ call, owner, request }: BoxMessage): Promise<void> {
    if (!this.holders.has(owner) && !(owner === probeOwner && this.probes > 0)) {
      const message = 'the attempt is over, and its boxes are stopped'
      const fault = { owner: 'sandbox', code: 'sandbox_stopped', message, retryable: false } as const
      this.process.send({ t: 'boxed', call, fault })
      return
    }
    const controller = new AbortController()
    this.boxCalls.set(call, controller)
    try {
      const value = await this.boxes.ask(owner, request, {
        signal: controller.signal,
        onWait: (waiting) => this.process.send({ t: 'box-wait', call, waiting }),
      })
      this.process.send({ t: 'boxed', call, value })
    } catch (thrown) {
      this.process.send({ t: 'boxed', call, ...boxRefusal(thrown) })
    } finally {
      this.boxCalls.delete(call)
    }
  }

  private waitOf(call: number): NonNullable<ModelContext['onWait']> {
    return (waiting, why) =>
      this.process.send({ t: 'wait', call, waiting, ...(why === undefined ? {} : { why }) })
  }
}

function runStopped(): QuintainError {
  return new QuintainError('worker_start_failed', 'The run was stopped.')
}

function notAnAnswer(what: string): never {
  throw new QuintainError('internal', `A worker's answer does not say ${what}.`)
}

function badOutput(problem: string): Fault {
  return {
    owner: 'platform',
    stage: 'worker',
    code: 'bad_output',
    message: `the worker process gave no whole attempt (${problem})`,
    retryable: false,
  }
}

function lostWith(end: WorkerEnd): Fault {
  return {
    owner: 'platform',
    stage: 'worker',
    code: 'worker_lost',
    message: `the worker process was lost (${end.how}: ${end.detail})`,
    retryable: true,
  }
}

/** What an answer that never came is for whoever asked: a group's grader that ended its process is to blame itself. */
function lostAnswer(end: WorkerEnd, lost: QuintainError): Error {
  if (end.stage !== 'group') return lost
  return new StepFailure(
    {
      owner: 'grader',
      stage: 'group',
      code: end.how === 'blocked' ? 'blocked' : 'crashed',
      message: `a group reward ended its process (${end.how}: ${end.detail})`,
      retryable: false,
    },
    '',
  )
}

function wireFault(thrown: unknown): WireFault {
  if (thrown instanceof ModelFault) {
    return {
      fault: { ...thrown.fault, message: redactedMessage(hideKeys, thrown, 500) },
      retries: thrown.retries,
      ...(thrown.outcome === undefined ? {} : { outcome: thrown.outcome }),
      ...(thrown.status === undefined ? {} : { status: thrown.status }),
    }
  }
  return {
    fault: {
      owner: 'platform',
      stage: 'model',
      code: 'client_threw',
      message: `the client threw: ${redactedMessage(hideKeys, thrown)}`,
      retryable: false,
    },
    retries: [],
  }
}

/** Why a box did not do what was asked, for the process that asked. */
function boxRefusal(thrown: unknown): { error: WireError } | { fault: Omit<Fault, 'stage'> } {
  if (thrown instanceof FaultError)
    return { fault: { ...thrown.fault, message: redactedMessage(hideKeys, thrown, 500) } }
  if (QuintainError.isInstance(thrown))
    return { error: { code: thrown.code, message: thrown.message, facts: { ...thrown.facts } } }
  const message = redactedMessage(hideKeys, thrown)
  return { fault: { owner: 'sandbox', code: 'sandbox_io', message, retryable: true } }
}

function errorOf(error: WireError): QuintainError {
  return new QuintainError(error.code, error.message, { facts: error.facts })
}
