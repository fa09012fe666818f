import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import {
  type AttemptRecord,
  contractOf,
  createRng,
  didYouMean,
  type Environment,
  type ErasedDefinition,
  type Folded,
  foldRun,
  type Harness,
  Journal,
  type Limits,
  type ManifestRecord,
  type Model,
  type Need,
  type OrderRecord,
  QuintainError,
  type RequestRecord,
  readManifest,
  refuseDuplicateIds,
  resolveLimits,
  type Sampling,
  type Seat,
} from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import type { Executor } from './executor.ts'
import { policyName, rubricName } from './host.ts'
import { openInline } from './inline-executor.ts'
import { type EnvironmentLocation, environmentDigest, locateEnvironment } from './locate.ts'
import { checkPolicies, type Player, policySpec, type Recordings } from './policy.ts'
import { openPool } from './pool-executor.ts'
import type { Progress, ProgressCounter } from './progress.ts'
import type { HostDescription, HostSpec, PolicySpec } from './protocol.ts'
import { isOwnVerdictWhole, type RunStop, Standing, schedule } from './scheduler.ts'
import type { TaskSummary } from './taskset.ts'

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

/** How a run ended. `stop` says why, when its plan was not finished. */
export interface RunEnd {
  dir: string
  manifest: ManifestRecord
  stop?: RunStop
}

/** What a run would do, found out without ordering anything. */
export interface RunPreview {
  environment: ManifestRecord['environment']
  description: HostDescription
  needs: Need[]
  seats: ManifestRecord['seats']
  tasks: number
  splits: Record<string, number>
  repeats: number
  orders: number
  /** The first few task ids. */
  examples: string[]
  isolation: 'worker' | 'inline'
}

interface Opened {
  executor: Executor
  environment: ManifestRecord['environment']
  seats: Record<Seat, PolicySpec>
  isolation: 'worker' | 'inline'
  needs: Need[]
  tasks: TaskSummary[]
  recordings: ReadonlyMap<Seat, Recordings>
  log: Log
}

/** Orders a new run and works through it. Throws `QuintainError` for everything that can be known before the first order. */
export async function startRun(options: RunOptions): Promise<RunEnd> {
  const opened = await open(options)
  try {
    const dir =
      options.dir === undefined
        ? await mkdtemp(join(tmpdir(), 'quintain-'))
        : resolve(options.cwd ?? '.', options.dir)
    const request = requestOf(options)
    const manifest = manifestOf(options, opened, request, dir)
    const journal = await Journal.create(dir, manifest)
    try {
      await opened.log.to(join(dir, 'private', 'worker.log'))
      const places = new Places([])
      await appendPlan(journal, opened.tasks, request, new Map(), places)
      const orders = places.end
      const stop = await schedule({
        ...controlOf(options, opened, orders),
        journal,
        standing: new Standing(orders),
        orders,
      })
      return { dir, manifest, ...(stop === undefined ? {} : { stop }) }
    } finally {
      await opened.executor.close()
      await journal.close()
    }
  } finally {
    await opened.executor.close()
    opened.log.close()
  }
}

/** What `startRun` would order. */
export async function previewRun(options: RunOptions): Promise<RunPreview> {
  const opened = await open(options)
  try {
    const splits: Record<string, number> = {}
    for (const { split } of opened.tasks) splits[split] = (splits[split] ?? 0) + 1
    const repeats = repeatsOf(options.repeats)
    return {
      environment: opened.environment,
      description: opened.executor.description,
      needs: opened.needs,
      seats: seatsOf(opened.seats, options.sampling, options.harness),
      tasks: opened.tasks.length,
      splits,
      repeats,
      orders: opened.tasks.length * repeats,
      examples: opened.tasks.slice(0, 5).map(({ id }) => id),
      isolation: opened.isolation,
    }
  } finally {
    await opened.executor.close()
    opened.log.close()
  }
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

/** Takes a run up where it stands: the same path as a new run, over what is still open. Throws as `startRun` and `run_mismatch`. */
export async function resumeRun(options: ResumeOptions): Promise<RunEnd> {
  const dir = resolve(options.cwd ?? '.', options.dir)
  const manifest = await readManifest(dir)
  const runOptions = runOptionsOf(manifest, options, dir)
  const digest = (attempt: AttemptRecord): Folded => ({
    verdict: attempt.verdict && { ...attempt.verdict, rewards: {}, metrics: {} },
    fault: attempt.fault,
    outcome: attempt.outcome,
  })
  const { journal, fold } = await Journal.open(dir, digest)
  let opened: Opened | undefined
  try {
    const requests = fold.requests.length > 0 ? fold.requests : [manifest.request]
    const extended =
      options.tasks !== undefined || options.repeats !== undefined || options.split !== undefined
    const more = extended ? extendedRequest(requests.at(-1)!, options) : undefined
    opened = await open({
      ...runOptions,
      tasks: [],
      planOnly: [...requests, ...(more === undefined ? [] : [more])],
    })
    checkSame(manifest, opened, options.force ?? false)
    await opened.log.to(join(dir, 'private', 'worker.log'))

    const known = new Map(fold.states.map(({ order }) => [order.id, order]))
    const places = new Places(fold.states.map(({ order }) => order.seq))
    const wanted = more === undefined ? requests : [...requests, more]
    for (const [place, request] of wanted.entries()) {
      const tasks = selectForRequest(opened.tasks, request)
      await appendPlan(journal, tasks, request, known, places, place >= fold.requests.length)
    }
    const orders = places.end
    // Attempts of orders that were lost from the plan count again once their orders are back in it.
    const orphans = fold.issues.some(({ what }) => what === 'orphan')
    const { states } = orphans ? await foldRun(dir, digest) : fold
    for (const { file, what, detail } of fold.issues) opened.log.write(`${file}: ${what}: ${detail}\n`)
    const standing = new Standing(orders)
    const retryFaults = options.retryFaults ?? true
    for (const { order, status, tries, chosen } of states) {
      const done = status === 'scored' || status === 'unscored' || (status === 'faulted' && !retryFaults)
      if (done || isGroupPending(chosen)) standing.finish(order.seq)
      else standing.setTries(order.seq, tries)
    }
    const before = (counter: ProgressCounter) => {
      for (const { order, status, chosen } of states) {
        if (!standing.finished(order.seq)) continue
        if (status === 'scored' || status === 'unscored' || status === 'faulted') {
          counter.before(status, chosen?.verdict?.reward ?? null, chosen?.verdict?.success ?? null)
        }
      }
    }
    const stop = await schedule({
      ...controlOf({ ...runOptions, ...options }, opened, orders),
      journal,
      standing,
      orders,
      before,
      maxTries: options.maxTries ?? manifest.maxTries,
    })
    return { dir, manifest, ...(stop === undefined ? {} : { stop }) }
  } finally {
    await opened?.executor.close()
    opened?.log.close()
    await journal.close()
  }
}

/** An order that wants nothing but its group's verdict, be it for the first time or after a fault of the group's grader. */
function isGroupPending(chosen: Folded | undefined): boolean {
  return chosen?.verdict?.pending === 'group' && isOwnVerdictWhole(chosen)
}

/**
 * Places in the plan, for orders that have none: first those whose order can no longer be read, then those behind the
 * last. A plan made again comes in the same sequence, so that a lost order gets its old place back, and its attempts.
 */
class Places {
  /** Places in use, and holes: one behind the last of them. */
  end: number
  private readonly holes: number[] = []

  constructor(taken: readonly number[]) {
    this.end = taken.reduce((end, seq) => Math.max(end, seq + 1), 0)
    const used = new Set(taken)
    for (let seq = 0; used.size < this.end && seq < this.end; seq++) if (!used.has(seq)) this.holes.push(seq)
  }

  next(): number {
    return this.holes.shift() ?? this.end++
  }
}

/** Loads the environment, checks who plays, and lists the tasks. */
async function open(options: RunOptions & { planOnly?: readonly RequestRecord[] }): Promise<Opened> {
  const inline = typeof options.env !== 'string'
  const isolation = options.isolation ?? (inline ? 'inline' : 'worker')
  const agents = Object.values(options.seats).filter((player) => 'agent' in player)
  if (inline && isolation === 'worker') {
    throw new QuintainError(
      'usage',
      'An environment passed as an object runs in this process. For worker isolation pass the path of its package.',
    )
  }
  const own = agents.length > 0 || options.harness !== undefined
  if (own && options.isolation === 'worker') {
    throw new QuintainError(
      'usage',
      'An agent or a harness passed from code runs in this process; leave isolation out.',
    )
  }
  const here = isolation === 'inline' || own
  const seats: Record<Seat, PolicySpec> = {}
  const models = new Map<Seat, Model>()
  const recordings = new Map<Seat, Recordings>()
  for (const [seat, player] of Object.entries(options.seats)) {
    const spec = policySpec(player)
    seats[seat] = spec
    if ('model' in player) models.set(seat, player.model)
    if (spec.kind === 'recorded') {
      if (options.openRecordings === undefined) throw new QuintainError('internal', 'no reader of recordings')
      recordings.set(seat, await options.openRecordings(spec.id))
    }
  }
  const location =
    typeof options.env === 'string' ? await locateEnvironment(options.env, options.cwd) : undefined
  const log = new Log()
  const loaded = location !== undefined && here ? await loadHere(location) : undefined
  const env = typeof options.env === 'string' ? loaded : options.env
  const definition = env?.definition
  const withDefaults = (description: HostDescription | undefined): Record<Seat, PolicySpec> => {
    const all = { ...seats }
    for (const seat of description?.scripted ?? scriptedSeats(definition))
      all[seat] ??= { kind: 'script', name: 'play' }
    return all
  }
  const spec = (assigned: Record<Seat, PolicySpec>): HostSpec => ({
    options: options.options ?? {},
    seed: String(options.seed ?? 0),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    seats: assigned,
    sampling: options.sampling ?? {},
    escalate: options.escalate ?? false,
  })
  resolveLimits(options.limits)

  let executor: Executor
  if (here) {
    const agent = agents[0]
    executor = await openInline({
      env: env!,
      spec: spec(withDefaults(undefined)),
      models,
      ...(agent !== undefined && 'agent' in agent ? { agent: agent.agent } : {}),
      ...(options.harness === undefined ? {} : { harness: options.harness }),
    })
  } else {
    executor = await openPool({
      location: location!,
      spec: spec(withDefaults(undefined)),
      models,
      workers: options.workers ?? availableParallelism(),
      log: (text) => log.write(text),
    })
  }
  try {
    const { description } = executor
    const assigned = withDefaults(description)
    const limit = typeof options.tasks === 'number' ? options.tasks : undefined
    const ids =
      typeof options.tasks === 'object' && options.planOnly === undefined ? options.tasks : undefined
    const tasks = await listTasks(executor, {
      ...(options.planOnly === undefined && options.split !== undefined ? { split: options.split } : {}),
      ...(ids === undefined ? {} : { ids }),
      ...(options.planOnly === undefined
        ? limit === undefined
          ? {}
          : { limit }
        : limitOfPlan(options.planOnly)),
    })
    if (tasks.length === 0 && limit !== 0) throw noTasks(options)
    const seen = tasks.length === 0 ? undefined : await lookAt(executor, tasks[0]!.index)
    const needs = seen ?? description.needs
    checkHarness(options.harness, needs)
    checkPolicies(assigned, description, seen === undefined || needs.includes('tools'))
    if (needs.includes('sandbox')) {
      throw new QuintainError(
        'needs_unmet',
        'This environment needs a sandbox, and this Quintain has none yet. Nothing was started.',
        { facts: { need: 'sandbox' } },
      )
    }
    return {
      executor,
      environment: {
        name: location?.name ?? 'inline',
        version: location?.version ?? '0.0.0',
        contract: location?.contract ?? contractOf(env!),
        digest: location === undefined ? 'inline' : await environmentDigest(location, description.options),
        reference: location?.reference ?? 'inline',
        options: description.options,
        rewards: description.rewards,
        metrics: description.metrics,
        success: description.success,
      },
      seats: assigned,
      isolation: here ? 'inline' : 'worker',
      needs,
      tasks,
      recordings,
      log,
    }
  } catch (error) {
    await executor.close()
    throw error
  }
}

/** What a task's world asks for; undefined when it does not open, which its rollouts will tell as faults of their own. */
async function lookAt(executor: Executor, index: number): Promise<Need[] | undefined> {
  try {
    return await executor.probe(index)
  } catch {
    return undefined
  }
}

/** Imports an environment into this process, for inline isolation. */
async function loadHere(location: EnvironmentLocation): Promise<Environment> {
  const module = (await import(location.entry)) as { default?: Environment }
  if (module.default?.definition === undefined) {
    throw new QuintainError(
      'environment_load_failed',
      `${location.reference} has no environment as its default export.`,
    )
  }
  return module.default
}

/** Refuses a harness that cannot carry what the environment asks of it. */
function checkHarness(harness: Harness | undefined, needs: readonly Need[]): void {
  if (harness === undefined) return
  for (const need of ['turns', 'tools', 'images'] as const) {
    if (!needs.includes(need) || harness.carries[need]) continue
    throw new QuintainError(
      'needs_unmet',
      `Harness ${harness.name} cannot carry ${need}, which this environment needs.`,
      {
        facts: { need, harness: harness.name },
      },
    )
  }
}

function scriptedSeats(definition: ErasedDefinition | undefined): string[] {
  return Object.entries(definition?.seats ?? {}).flatMap(([seat, { play }]) =>
    play === undefined ? [] : [seat],
  )
}

async function listTasks(
  executor: Executor,
  query: { split?: string; ids?: readonly string[]; limit?: number },
): Promise<TaskSummary[]> {
  const tasks: TaskSummary[] = []
  for await (const page of executor.list(query)) tasks.push(...page)
  refuseDuplicateIds(tasks, 'the environment')
  const missing = query.ids?.filter((id) => !tasks.some((task) => task.id === id)) ?? []
  if (missing.length > 0) {
    const all: string[] = []
    for await (const page of executor.list({ limit: 10_000 })) all.push(...page.map(({ id }) => id))
    throw new QuintainError(
      'unknown_task',
      `There is no task "${missing[0]}"${didYouMean(missing[0]!, all)}${missing.length > 1 ? ` And ${missing.length - 1} more ids are unknown.` : ''}`,
      { facts: { missing } },
    )
  }
  return tasks
}

/** How far the taskset must be read to plan these requests again. */
function limitOfPlan(requests: readonly RequestRecord[]): { limit?: number } {
  const open = requests.some(
    ({ limit, split, tasks }) => limit === undefined || split !== undefined || tasks !== undefined,
  )
  return open ? {} : { limit: Math.max(...requests.map(({ limit }) => limit!)) }
}

function selectForRequest(tasks: readonly TaskSummary[], request: RequestRecord): TaskSummary[] {
  const wanted = request.tasks === undefined ? undefined : new Set(request.tasks)
  const selected = tasks.filter(
    ({ id, split }) =>
      (request.split === undefined || split === request.split) && (wanted === undefined || wanted.has(id)),
  )
  return request.limit === undefined ? selected : selected.slice(0, request.limit)
}

function noTasks(options: RunOptions): QuintainError {
  const of = options.split === undefined ? '' : ` in split "${options.split}"`
  return new QuintainError('no_tasks', `The environment has no tasks${of}; there is nothing to run.`, {
    facts: { split: options.split },
  })
}

function repeatsOf(repeats: number | undefined): number {
  const value = repeats ?? 1
  if (!Number.isInteger(value) || value < 1) {
    throw new QuintainError('usage', `repeats is ${value}; give a whole number from 1.`, {
      facts: { repeats: value },
    })
  }
  return value
}

function requestOf(options: Pick<RunOptions, 'tasks' | 'split' | 'repeats'>): RequestRecord {
  if (typeof options.tasks === 'number' && !(Number.isInteger(options.tasks) && options.tasks >= 0)) {
    throw new QuintainError('usage', `The number of tasks is ${options.tasks}; give a whole number from 0.`)
  }
  return {
    schema: 'quintain.request',
    v: 1,
    repeats: repeatsOf(options.repeats),
    ...(options.split === undefined ? {} : { split: options.split }),
    ...(typeof options.tasks === 'number' ? { limit: options.tasks } : {}),
    ...(typeof options.tasks === 'object' ? { tasks: [...options.tasks] } : {}),
  }
}

function extendedRequest(last: RequestRecord, options: ResumeOptions): RequestRecord {
  const kept = {
    split: last.split,
    ...(last.limit === undefined ? { ids: last.tasks } : { limit: last.limit }),
  }
  const split = options.split ?? kept.split
  const tasks = options.tasks ?? ('limit' in kept ? kept.limit : kept.ids)
  return requestOf({
    repeats: options.repeats ?? last.repeats,
    ...(split === undefined ? {} : { split }),
    ...(tasks === undefined ? {} : { tasks }),
  })
}

/** Orders are appended in pages of this many. */
const pageOfOrders = 1_000

/** Appends what a request asks for and is not ordered yet. */
async function appendPlan(
  journal: Journal,
  tasks: readonly TaskSummary[],
  request: RequestRecord,
  known: Map<string, OrderRecord>,
  places: Places,
  newRequest = true,
): Promise<void> {
  const { seed } = journal.manifest
  let page: (OrderRecord | RequestRecord)[] = newRequest ? [request] : []
  for (const task of tasks) {
    for (let repeat = 0; repeat < request.repeats; repeat++) {
      const id = `${task.id}#${repeat}`
      if (known.has(id)) continue
      const order: OrderRecord = {
        schema: 'quintain.order',
        v: 1,
        id,
        seq: places.next(),
        task: task.id,
        index: task.index,
        split: task.split,
        repeat,
        group: task.id,
        seed: createRng(`${seed}/${id}`).int(2 ** 31),
        taskDigest: task.digest,
        ...(task.tags === undefined ? {} : { tags: task.tags }),
      }
      known.set(id, order)
      page.push(order)
      if (page.length >= pageOfOrders) {
        await journal.appendOrders(page)
        page = []
      }
    }
  }
  if (page.length > 0) await journal.appendOrders(page)
}

function seatsOf(
  seats: Record<Seat, PolicySpec>,
  sampling: Sampling | undefined,
  harness: Harness | undefined,
): ManifestRecord['seats'] {
  return Object.fromEntries(
    Object.entries(seats).map(([seat, policy]) => [
      seat,
      {
        policy: policyName(policy),
        harness:
          seat === 'agent' && harness !== undefined
            ? harness.name
            : policy.kind === 'agent'
              ? `${policy.id}@function`
              : 'auto',
        ...(policy.kind === 'model' && sampling !== undefined ? { sampling: { ...sampling } } : {}),
      },
    ]),
  )
}

function manifestOf(
  options: RunOptions,
  opened: Opened,
  request: RequestRecord,
  dir: string,
): ManifestRecord {
  const { environment, executor } = opened
  return {
    schema: 'quintain.run',
    v: 1,
    id: crypto.randomUUID(),
    created: new Date().toISOString(),
    quintain: quintainVersion,
    node: process.versions.node,
    environment: { ...environment, reference: storedReference(environment.reference, options.cwd, dir) },
    rubric: rubricName(executor.description),
    seats: seatsOf(opened.seats, options.sampling, options.harness),
    seed: String(options.seed ?? 0),
    limits: resolveLimits(options.limits),
    ...(options.limits === undefined ? {} : { limitsGiven: options.limits as Record<string, unknown> }),
    ...(options.escalate === true ? { escalate: true } : {}),
    isolation: opened.isolation,
    maxTries: options.maxTries ?? 3,
    request,
  }
}

/** A path is kept relative to the run, so that no machine's folders are in a record. */
function storedReference(reference: string, cwd: string | undefined, dir: string): string {
  const isPath = reference.startsWith('.') || reference.includes('/') || reference.includes('\\')
  const scoped = reference.startsWith('@')
  return isPath && !scoped ? relative(dir, resolve(cwd ?? '.', reference)) || '.' : reference
}

function runOptionsOf(manifest: ManifestRecord, options: ResumeOptions, dir: string): RunOptions {
  const { environment, seats } = manifest
  const players: Record<Seat, Player> = {}
  for (const [seat, { policy }] of Object.entries(seats)) {
    const given = options.players?.[seat]
    if (given !== undefined) players[seat] = given
    else if (policy === 'script:play') continue
    else if (policy.startsWith('script:') || policy.startsWith('recorded:')) players[seat] = { policy }
    else {
      throw new QuintainError(
        'policy_unknown',
        `The run's ${seat} is ${policy}, which must be given again to resume it (a model's key and an agent's code are not in the records).`,
        { facts: { seat, policy } },
      )
    }
  }
  const isPath = environment.reference.startsWith('.')
  if (environment.reference === 'inline' && options.env === undefined) {
    throw new QuintainError(
      'environment_not_found',
      'This run was made from code with an environment object; resume it from code, with resume(dir, { env }).',
    )
  }
  return {
    env: options.env ?? (isPath ? resolve(dir, environment.reference) : environment.reference),
    seats: players,
    options: environment.options,
    ...(manifest.limitsGiven === undefined ? {} : { limits: manifest.limitsGiven as Limits }),
    ...(seats['agent']?.sampling === undefined ? {} : { sampling: seats['agent'].sampling as Sampling }),
    seed: manifest.seed,
    escalate: manifest.escalate ?? false,
    ...(environment.reference === 'inline' || manifest.isolation === 'worker'
      ? {}
      : { isolation: 'inline' as const }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.openRecordings === undefined ? {} : { openRecordings: options.openRecordings }),
  }
}

/** Orders of one environment are not finished by another. */
function checkSame(manifest: ManifestRecord, opened: Opened, force: boolean): void {
  if (force || manifest.environment.digest === opened.environment.digest) return
  throw new QuintainError(
    'run_mismatch',
    `${manifest.environment.name} has changed since this run was ordered (digest ${manifest.environment.digest.slice(0, 12)} then, ${opened.environment.digest.slice(0, 12)} now). Start a new run, or resume with --force to mix the two.`,
    { facts: { ordered: manifest.environment.digest, now: opened.environment.digest } },
  )
}

function controlOf(options: RunControl, opened: Opened, orders: number) {
  const scripted = Object.values(opened.seats).every(({ kind }) => kind === 'script' || kind === 'recorded')
  const workers = options.workers ?? availableParallelism()
  const concurrency = options.concurrency ?? (scripted ? 64 * workers : 32)
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new QuintainError('usage', `concurrency is ${concurrency}; give a whole number from 1.`)
  }
  const { recordings } = opened
  return {
    executor: opened.executor,
    concurrency: Math.min(concurrency, Math.max(1, orders)),
    maxTries: options.maxTries ?? 3,
    graceMs: options.graceMs ?? 10_000,
    groups: Object.values(opened.environment.rewards).some(({ kind }) => kind === 'group'),
    ...(options.maxCostUsd === undefined ? {} : { maxCostUsd: options.maxCostUsd }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.hardSignal === undefined ? {} : { hardSignal: options.hardSignal }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    ...(recordings.size === 0
      ? {}
      : {
          replies: (order: OrderRecord) =>
            Object.fromEntries(
              [...recordings].flatMap(([seat, found]) => {
                const replies = found.replies(order.task, order.repeat)
                return replies === undefined ? [] : [[seat, replies]]
              }),
            ),
        }),
  }
}

/** What workers print. It may quote secrets, so it goes to the private part of the run, and only up to a size. */
class Log {
  private stream: WriteStream | undefined
  private early = ''
  private bytes = 0
  private static readonly most = 10 * 1024 * 1024

  write(text: string): void {
    if (this.bytes > Log.most) return
    this.bytes += text.length
    if (this.stream === undefined) this.early += text
    else this.stream.write(text)
  }

  async to(path: string): Promise<void> {
    await mkdir(join(path, '..'), { recursive: true })
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
    // A log that cannot be written must not end the run.
    stream.on('error', () => {
      this.bytes = Number.POSITIVE_INFINITY
    })
    if (this.early !== '') stream.write(this.early)
    this.early = ''
    this.stream = stream
  }

  close(): void {
    this.stream?.end()
  }
}
