import { availableParallelism } from 'node:os'
import { isAbsolute, resolve, sep } from 'node:path'
import {
  checkSandbox,
  contractOf,
  didYouMean,
  type Environment,
  type Harness,
  isEnvironment,
  type ManifestRecord,
  type Model,
  messageOf,
  type Need,
  QuintainError,
  type RequestRecord,
  refuseDuplicateIds,
  resolveLimits,
  type Seat,
} from '../core/index.ts'
import { harnessOf } from './agent.ts'
import { BoxDesk, type DeskOptions } from './box-desk.ts'
import type { Executor } from './executor.ts'
import { openInline } from './inline-executor.ts'
import { wasm } from './interpreter-driver.ts'
import { judgeSeat } from './judge-desk.ts'
import { checkJudges, judgeRecords } from './judge-models.ts'
import { type EnvironmentLocation, environmentDigest, locateEnvironment } from './locate.ts'
import { openSandbox } from './open-sandbox.ts'
import { OutsidePlayer } from './outside-player.ts'
import { limitOfPlan } from './plan-orders.ts'
import type { SeatPlayers } from './play.ts'
import { checkPolicies, modelOf, policySpec, type Recordings, withScriptedSeats } from './policy.ts'
import { openPool } from './pool-executor.ts'
import type { HostDescription, HostSpec, PolicySpec, TaskQuery } from './protocol.ts'
import { type OpenGateway, RunGateway } from './run-gateway.ts'
import type { RunOptions } from './run-options.ts'
import type { TaskSummary } from './taskset.ts'
import { WorkerLog } from './worker-log.ts'

/** An environment that is loaded, with its tasks and its players. */
export interface OpenedRun {
  executor: Executor
  environment: ManifestRecord['environment']
  /** Digest of each of its files. */
  files: Record<string, string>
  /** Where its package lies; undefined for one that was passed as an object. */
  location: EnvironmentLocation | undefined
  seats: Record<Seat, PolicySpec>
  /** Which models stand for the judges of the environment. */
  judges: NonNullable<ManifestRecord['judges']>
  isolation: 'worker' | 'inline'
  /** The agent's harness runs in this process and not beside its world. */
  outside: boolean
  needs: Need[]
  /** What its boxes run in; undefined for an environment that has none. */
  sandbox: ManifestRecord['sandbox']
  tasks: TaskSummary[]
  recordings: ReadonlyMap<Seat, Recordings>
  log: WorkerLog
  boxes: BoxDesk
}

/** Which tasks to list: those of the options, or, to resume, all that earlier requests may speak of. */
type OpenOptions = RunOptions & {
  replan?: readonly RequestRecord[]
  /** Who plays what is played from outside, instead of harnesses. */
  players?: SeatPlayers
}

/**
 * Loads the environment where it is to run, lists the tasks, and checks that every seat has a player and every need is
 * met. Throws `QuintainError`; nothing is ordered yet.
 */
export async function openRun(options: OpenOptions): Promise<OpenedRun> {
  resolveLimits(options.limits)
  const harness = harnessIn(options)
  const isOutside = harness?.runs === 'outside'
  const isolation = isolationOf(options, harness)
  const { seats, models, recordings } = await readPlayers(options)
  const judges = Object.entries(options.judges ?? {})
  const location =
    typeof options.env === 'string' ? await locateEnvironment(options.env, options.cwd) : undefined
  const log = new WorkerLog()
  const spec: HostSpec = {
    options: options.options ?? {},
    seed: String(options.seed ?? 0),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    seats,
    sampling: options.sampling ?? {},
    escalate: options.escalate ?? false,
    ...(isOutside ? { outside: { agent: harness.name } } : {}),
    ...(judges.length === 0
      ? {}
      : { judges: Object.fromEntries(judges.map(([judge, { id }]) => [judge, id])) }),
  }
  const env =
    isolation === 'worker' ? undefined : location === undefined ? options.env : await loadHere(location)
  const boxes = new BoxDesk()
  const write = (text: string) => log.write(text)
  const gateway = new RunGateway(options.openGateway ?? openGateway, write)
  const outside = isOutside
    ? (options.players ??
      new OutsidePlayer({ harnesses: new Map([['agent', harness]]), spec, models, gateway, log: write }))
    : undefined
  const gatewaySocket = harness?.needsBox === true ? async () => (await gateway.get()).socketPath : undefined
  const executor =
    env === undefined
      ? await openPool({
          location: location!,
          spec,
          models,
          workers: options.workers ?? availableParallelism(),
          concurrency: options.concurrency ?? 0,
          boxes,
          ...(outside === undefined ? {} : { outside }),
          workersGiveWay: options.players !== undefined,
          log: write,
        })
      : await openInline({
          env: env as Environment,
          spec,
          models,
          boxes,
          ...(harness === undefined || isOutside ? {} : { harness }),
          ...(outside === undefined ? {} : { outside }),
        })
  try {
    const { description } = executor
    const query = options.replan === undefined ? queryOf(options) : limitOfPlan(options.replan)
    const sandbox = await openBoxes(boxes, options, description, { gatewaySocket, log: write })
    const tasks = await listTasks(executor, query)
    if (tasks.length === 0 && query.limit !== 0) throw await noTasks(executor, options)
    const seen = tasks.length === 0 ? undefined : await lookAt(executor, tasks[0]!.index)
    const needs = seen ?? description.needs
    const players = withScriptedSeats(seats, description.scripted)
    checkNeeds(harness, needs)
    for (const [judge, model] of checkJudges(description.judges, options.judges ?? {}))
      models.set(judgeSeat(judge), model)
    checkPolicies(players, description, seen === undefined || needs.includes('tools'))
    const identity =
      location === undefined
        ? { digest: 'inline', files: {} }
        : await environmentDigest(location, description.options)
    return {
      executor,
      files: identity.files,
      environment: {
        name: location?.name ?? 'inline',
        version: location?.version ?? '0.0.0',
        contract: location?.contract ?? contractOf(env as Environment),
        digest: identity.digest,
        reference: location?.reference ?? 'inline',
        options: description.options,
        rewards: description.rewards,
        metrics: description.metrics,
        success: description.success,
        ...(description.notes.length === 0 ? {} : { notes: description.notes }),
      },
      location,
      seats: players,
      judges: judgeRecords(description.judges, options.judges ?? {}),
      isolation,
      outside: isOutside,
      needs,
      sandbox,
      tasks,
      recordings,
      log,
      boxes,
    }
  } catch (error) {
    await executor.close()
    throw error
  }
}

/** Opens the driver for an environment that runs in boxes, and clears away what runs that were killed have left. */
async function openBoxes(
  boxes: BoxDesk,
  options: OpenOptions,
  { sandbox, permissions }: HostDescription,
  {
    gatewaySocket,
    log,
  }: Pick<DeskOptions, 'log'> & { gatewaySocket: DeskOptions['gatewaySocket'] | undefined },
): Promise<OpenedRun['sandbox']> {
  if (sandbox === undefined) return undefined
  refuseForeignImage(sandbox.image, permissions.read ?? [])
  const { driver, own } = await openSandbox(options, checkSandbox(sandbox))
  const network = permissions.network === true
  const open = options.openSandbox
  boxes.open({
    driver,
    own,
    definition: sandbox,
    most: options.boxes,
    network,
    log,
    ...(gatewaySocket === undefined ? {} : { gatewaySocket }),
    ...(open === undefined ? {} : { openWasm: () => open({ name: wasm }) }),
  })
  try {
    const swept = await driver.sweep?.()
    if (swept !== undefined && swept > 0) log(`${swept} boxes of processes that are gone were removed\n`)
  } catch (error) {
    // What others have left is no reason not to run.
    log(`what other runs have left could not all be removed: ${messageOf(error)}\n`)
  }
  return { driver: driver.name, isolation: driver.isolation }
}

/** A box would let an environment read a folder that its process may not. */
function refuseForeignImage(image: string | undefined, readable: readonly string[]): void {
  if (image === undefined || !/^[./]/.test(image)) return
  const path = resolve(image)
  const within = (root: string) => path === resolve(root) || path.startsWith(`${resolve(root)}${sep}`)
  if (isAbsolute(image) && readable.some(within)) return
  throw new QuintainError(
    'definition_invalid',
    `The system of its boxes, ${image}, is a folder that the environment may not read. Give its absolute path, and add it to permissions.read.`,
    { facts: { image } },
  )
}

/** The harness that a user brings for the agent's seat. Throws `usage` where two are brought, and for another seat's. */
function harnessIn({ harness, seats }: RunOptions): Harness | undefined {
  for (const [seat, player] of Object.entries(seats)) {
    if (!('agent' in player)) continue
    if (seat !== 'agent')
      throw new QuintainError('usage', `Seat "${seat}" is played by an agent; only the seat "agent" can be.`)
    if (harness !== undefined)
      throw new QuintainError('usage', 'An agent is its own harness; give `agent` or `harness`, not both.')
    return harnessOf(player)
  }
  return harness
}

/** Ours, which most runs need no code of. */
const openGateway: OpenGateway = async (options) => {
  const { openGateway: open } = await import('../gateway/open-gateway.ts')
  return open(options)
}

/** Where the environment's code runs. A harness that runs beside its world can only run here. Throws `usage` for a wish that cannot be met. */
function isolationOf(options: RunOptions, harness: Harness | undefined): 'worker' | 'inline' {
  const object = typeof options.env !== 'string'
  const own = harness !== undefined && harness.runs !== 'outside'
  if (options.isolation === 'worker' && object) {
    throw new QuintainError(
      'usage',
      'An environment passed as an object runs in this process. For worker isolation pass the path of its package.',
    )
  }
  if (options.isolation === 'worker' && own) {
    throw new QuintainError(
      'usage',
      `Harness ${harness.name} runs beside the world, in this process; leave isolation out.`,
    )
  }
  return object || own ? 'inline' : (options.isolation ?? 'worker')
}

/** The players as data for the workers, and what they need from this process: models, recordings. */
async function readPlayers(options: RunOptions): Promise<{
  seats: Record<Seat, PolicySpec>
  models: Map<Seat, Model>
  recordings: Map<Seat, Recordings>
}> {
  const seats: Record<Seat, PolicySpec> = {}
  const models = new Map<Seat, Model>()
  const recordings = new Map<Seat, Recordings>()
  for (const [seat, player] of Object.entries(options.seats)) {
    const spec = policySpec(player)
    seats[seat] = spec
    const model = modelOf(player)
    if (model !== undefined) models.set(seat, model)
    if (spec.kind === 'recorded') {
      if (options.openRecordings === undefined) throw new QuintainError('internal', 'no reader of recordings')
      recordings.set(seat, await options.openRecordings(spec.id))
    }
  }
  return { seats, models, recordings }
}

function queryOf({ tasks, split }: RunOptions): TaskQuery {
  return {
    ...(split === undefined ? {} : { split }),
    ...(typeof tasks === 'number' ? { limit: tasks } : {}),
    ...(typeof tasks === 'object' ? { ids: tasks } : {}),
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
  if (!isEnvironment(module.default)) {
    throw new QuintainError(
      'environment_load_failed',
      `${location.reference} has no environment as its default export.`,
    )
  }
  return module.default
}

/** Refuses a harness that cannot carry what the environment asks of it. */
function checkNeeds(harness: Harness | undefined, needs: readonly Need[]): void {
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

/** Throws `duplicate_task_id`, and `unknown_task` for an id that no task has. */
async function listTasks(executor: Executor, query: TaskQuery): Promise<TaskSummary[]> {
  const tasks: TaskSummary[] = []
  for await (const page of executor.list(query)) tasks.push(...page)
  refuseDuplicateIds(tasks, 'the environment')
  const missing = query.ids?.filter((id) => !tasks.some((task) => task.id === id)) ?? []
  if (missing.length > 0) {
    const all = (await firstTasks(executor)).map(({ id }) => id)
    throw new QuintainError(
      'unknown_task',
      `There is no task "${missing[0]}"${didYouMean(missing[0]!, all)}${missing.length > 1 ? ` And ${missing.length - 1} more ids are unknown.` : ''}`,
      { facts: { missing } },
    )
  }
  return tasks
}

/** As many as are looked at for the sake of an error. */
async function firstTasks(executor: Executor): Promise<TaskSummary[]> {
  const tasks: TaskSummary[] = []
  for await (const page of executor.list({ limit: 10_000 })) tasks.push(...page)
  return tasks
}

/** Of a split without tasks it says which splits have some. */
async function noTasks(executor: Executor, { split }: RunOptions): Promise<QuintainError> {
  const splits =
    split === undefined ? [] : [...new Set((await firstTasks(executor)).map((task) => task.split))].sort()
  const text =
    split === undefined || splits.length === 0
      ? 'The environment has no tasks; there is nothing to run.'
      : `The environment has no tasks in split "${split}"${didYouMean(split, splits)} Splits: ${splits.slice(0, 20).join(', ')}.`
  return new QuintainError('no_tasks', text, { facts: { split, splits } })
}
