import { resolve } from 'node:path'
import { QuintainError, readManifest, readPanel, type Sampling, writePanel } from '../core/index.ts'
import type { AgentPlayer, Behind, PanelOptions, Player, RunOptions, RunPreview } from '../engine/index.ts'
import { printableLine } from '../report/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import { type AgentOptions, labelOf, openAgents } from './agents.ts'
import { consoleAside } from './console-aside.ts'
import type { ExitCode } from './exit-codes.ts'
import { exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { panelSession } from './panel-session.ts'
import { parseLimits, parseOptions } from './parse.ts'
import {
  type Detection,
  detectionOf,
  detectNotes,
  groupNotes,
  newPlanNotes,
  type PlanPrecision,
  precisionNotes,
  precisionOf,
  type WantedChange,
} from './plan-notes.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { formatPreview } from './preview.ts'
import { newRunDir } from './run-path.ts'
import { runSession, type SessionOptions } from './run-session.ts'
import { watchUntilDecided } from './watch.ts'

/** Who plays, as it was typed: `-m MODEL`, or `--policy POLICY`. */
export type NamedPlayer = { model: string } | { policy: string }

export interface EvalOptions extends SessionOptions, EndpointOptions, AgentOptions {
  /** In the order in which they were typed; the first is what the others are compared with. Behind `agents`, where there are some. */
  players?: NamedPlayer[]
  seat?: string[]
  judge?: string[]
  tasks?: number
  task?: string[]
  repeats?: number
  split?: string
  seed?: string
  limit?: string[]
  option?: string[]
  temperature?: number
  topP?: number
  maxTokens?: number
  reasoningEffort?: string
  isolation?: 'worker' | 'inline'
  out?: string
  dryRun?: boolean
  escalate?: boolean
  /** False for `--no-floor`. */
  floor?: boolean
  /** A change of the success rate that is to be seen, as a share. */
  detect?: WantedChange
  stopWhenDecided?: boolean
  alpha?: number
}

function samplingOf({ temperature, topP, maxTokens, reasoningEffort }: EvalOptions): Sampling | undefined {
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  }
  return Object.keys(sampling).length === 0 ? undefined : sampling
}

/** Refuses what contradicts itself before anything is opened. Gives the players. */
function checked(options: EvalOptions): NamedPlayer[] {
  const { players = [], agents = [], price = [] } = options
  const refuse = (message: string): never => {
    throw new QuintainError('usage', message)
  }
  if (players.length + agents.length === 0) {
    refuse(
      'Say who plays: -m MODEL, or --policy script:oracle (script:noop, script:random, or one the environment ships), or an agent of yours, --agent FILE.',
    )
  }
  if (options.tasks !== undefined && options.task !== undefined) {
    refuse('Give -n (how many) or --task (which), not both.')
  }
  const models = new Set(players.flatMap((player) => ('model' in player ? [player.model] : [])))
  if (models.size > 1 && price.some(({ model }) => model === undefined)) {
    refuse(`With several models say whose price it is: --price ${[...models][0]}:in=0.15,out=0.60.`)
  }
  if (options.stopWhenDecided && Math.max(1, agents.length) * Math.max(1, players.length) !== 2) {
    refuse('--stop-when-decided compares two players: give -m (or --policy, or --agent) twice.')
  }
  if (options.alpha !== undefined && !options.stopWhenDecided) {
    refuse('--alpha is the error rate of --stop-when-decided; give it too.')
  }
  return players
}

const nameOf = (player: NamedPlayer): string => ('model' in player ? player.model : player.policy)

/** What goes into the folder's name: who plays, or how many. */
function folderPart(names: readonly string[], players: number): string {
  return players === 1 ? names[0]! : `${players}-players`
}

/** Every agent with everything that is to be behind one; without agents, that itself. */
function playersOf(agents: readonly AgentPlayer[], behinds: readonly Behind[]): Player[] {
  if (agents.length === 0) return [...behinds]
  return agents.flatMap((agent) =>
    behinds.length === 0 ? [agent] : behinds.map((behind) => ({ ...agent, behind })),
  )
}

/** Plans a run of an environment for each player, runs them in turns, prints the report or the comparison. */
export async function evalCommand(env: string, options: EvalOptions, io: CliIo): Promise<ExitCode> {
  const named = checked(options)
  const limits = options.limit === undefined ? undefined : parseLimits(options.limit)
  const envOptions = options.option === undefined ? undefined : parseOptions(options.option)
  const sampling = samplingOf(options)
  const consoleBack = options.json === true ? consoleAside(io) : undefined
  const opener = new PlayerOpener({ ...options, keyless: options.dryRun === true }, io)
  try {
    const behinds: Behind[] = []
    for (const one of named) behinds.push('policy' in one ? one : { model: await opener.model(one.model) })
    const agents = await openAgents(options.agents ?? [], io.cwd)
    const players = playersOf(agents, behinds)
    const seats = await opener.seats(options.seat)
    const judges = await opener.judges(options.judge)
    const keyNotes = opener.missing.map((message) => `Note: ${printableLine(message, 400)}`)
    const names = [...(options.agents ?? []).map((one) => labelOf(one, io.cwd)), ...named.map(nameOf)]
    const dir =
      options.out === undefined
        ? newRunDir(io.cwd, env, folderPart(names, players.length))
        : resolve(io.cwd, options.out)
    const { readRecordings } = await import('../models/index.ts')
    const tasks = options.task ?? options.tasks
    const shared: Omit<RunOptions, 'seats'> = {
      env,
      dir,
      cwd: io.cwd,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      openSandbox: openSandboxDriver,
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
      ...(options.boxes === undefined ? {} : { boxes: options.boxes }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(options.split === undefined ? {} : { split: options.split }),
      ...(options.repeats === undefined ? {} : { repeats: options.repeats }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      ...(envOptions === undefined ? {} : { options: envOptions }),
      ...(limits === undefined ? {} : { limits }),
      ...(sampling === undefined ? {} : { sampling }),
      ...(Object.keys(judges).length === 0 ? {} : { judges }),
      ...(options.isolation === undefined ? {} : { isolation: options.isolation }),
      floor: options.floor !== false,
      ...(options.escalate === undefined ? {} : { escalate: options.escalate }),
      ...(options.workers === undefined ? {} : { workers: options.workers }),
    }
    if (players.length === 1)
      return await evalOne({ ...shared, seats: { agent: players[0]!, ...seats } }, options, { io, keyNotes })
    return await evalPanel({ ...shared, players, seats }, options, { io, keyNotes })
  } finally {
    consoleBack?.()
    await opener.close()
  }
}

/** Where to write, and which keys the run will lack. */
interface Told {
  io: CliIo
  keyNotes: readonly string[]
}

async function evalOne(run: RunOptions, options: EvalOptions, told: Told): Promise<ExitCode> {
  const { previewRun, startRun } = await import('../engine/index.ts')
  if (options.dryRun) return showPreview([await previewRun(run)], options, told)
  return runSession(
    { dir: run.dir ?? '', run: (control) => startRun({ ...run, ...control }) },
    options,
    told.io,
    async (planned) => planNotes(options, planned, (await readManifest(run.dir ?? '')).environment),
  )
}

async function evalPanel(panel: PanelOptions, options: EvalOptions, told: Told): Promise<ExitCode> {
  const { previewPanel, startPanel } = await import('../engine/index.ts')
  if (options.dryRun) return showPreview(await previewPanel(panel), options, told)
  const dir = panel.dir ?? ''
  const runs = panel.players.length
  if (options.stopWhenDecided) await refuseUndecidable(panel)
  const watched = options.stopWhenDecided
    ? watchUntilDecided({ repeats: options.repeats ?? 1, alpha: options.alpha ?? 0.05 })
    : undefined
  return panelSession(
    {
      dir,
      async run(control) {
        const end = await startPanel({
          ...panel,
          ...control,
          ...(watched === undefined ? {} : { watch: watched.watch }),
        })
        const decided = watched?.decided()
        const record = await readPanel(end.dir)
        if (decided !== undefined && record !== undefined) await writePanel(end.dir, { ...record, decided })
        return end
      },
    },
    options,
    told.io,
    async ({ orders, quiet }) => {
      const record = await readPanel(dir)
      const { environment } = await readManifest(resolve(dir, record?.runs[0] ?? ''))
      return planNotes(options, { orders: orders / runs, quiet }, environment)
    },
  )
}

/** Only a success that each rollout has for itself can be watched. Throws `usage`. */
async function refuseUndecidable({ players, seats, ...shared }: PanelOptions): Promise<void> {
  const { previewRun } = await import('../engine/index.ts')
  const { environment } = await previewRun({ ...shared, seats: { ...seats, agent: players[0]! } })
  const group = Object.values(environment.rewards).some(({ kind }) => kind === 'group')
  if (environment.success && !group) return
  throw new QuintainError(
    'usage',
    group
      ? '--stop-when-decided cannot watch group rewards, which come when a group is whole.'
      : '--stop-when-decided watches success, and this environment does not say what success is.',
  )
}

type Environment = RunPreview['environment']

function planNotes(
  options: EvalOptions,
  { orders, quiet }: { orders: number; quiet: boolean },
  environment: Environment,
): string[] {
  const { success } = environment
  const shape = shapeOf(options, orders)
  if (quiet) return detectNotes(shape, { success, detect: options.detect })
  return [
    ...shortNotes(options, orders, environment),
    ...precisionNotes(shape, { success, detect: options.detect }),
  ]
}

/** What the environment says of itself, and what the plan lacks. */
function shortNotes(options: EvalOptions, orders: number, { rewards, notes = [] }: Environment): string[] {
  const { repeats } = shapeOf(options, orders)
  return [
    ...notes.map((note) => `Note: ${printableLine(note, 400)}`),
    ...agentNotes(options),
    ...newPlanNotes(options, { orders, repeats }),
    ...groupNotes(rewards, repeats),
  ]
}

/** A program or a service that expects the model of the run finds none where none was named. */
function agentNotes({ agents = [], players = [] }: EvalOptions): string[] {
  const isProgram = agents.some((agent) => 'command' in agent)
  if (players.length > 0 || !(isProgram || agents.some((agent) => 'url' in agent))) return []
  const unset = isProgram ? ', and OPENAI_BASE_URL is not set for it' : ''
  return [
    `Note: no model stands behind this agent (-m MODEL, --policy script:NAME): it is to bring its own${unset}.`,
  ]
}

function shapeOf({ repeats = 1 }: EvalOptions, orders: number): { tasks: number; repeats: number } {
  return { tasks: orders / repeats, repeats }
}

/** What the JSON of a dry run says beside the plan, where there is a success rate to be known. */
function precisionData(
  { tasks, repeats, environment }: RunPreview,
  detect: WantedChange | undefined,
): { precision?: PlanPrecision; detect?: Detection } {
  if (!environment.success) return {}
  return {
    precision: precisionOf({ tasks, repeats }),
    ...(detect === undefined ? {} : { detect: detectionOf(detect.share, repeats) }),
  }
}

function showPreview(
  previews: readonly RunPreview[],
  options: EvalOptions,
  { io, keyNotes }: Told,
): ExitCode {
  const [preview] = previews
  if (preview === undefined) return exitCodes.done
  const { detect } = options
  if (options.json) {
    const plans = previews.map((one) => ({ ...one, ...precisionData(one, detect) }))
    io.stdout.write(`${JSON.stringify(plans.length === 1 ? plans[0] : plans, null, 2)}\n`)
  } else io.stdout.write(formatPreview(preview, { others: previews.slice(1), detect }))
  if (options.quiet) return exitCodes.done
  for (const note of [...shortNotes(options, preview.orders, preview.environment), ...keyNotes])
    io.stderr.write(`${note}\n`)
  return exitCodes.done
}
