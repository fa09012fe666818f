import { resolve } from 'node:path'
import {
  type Environment,
  type Harness,
  type Limits,
  type ManifestRecord,
  type Model,
  QuintainError,
  readManifest,
  refuseUnknown,
  removeRun,
  type Sampling,
  type Seat,
} from './core/index.ts'
import {
  type Player,
  type Progress,
  previewRun,
  type RunControl,
  type RunEnd,
  type RunOptions,
  type RunPreview,
  type RunStop,
  resumeRun,
  startRun,
} from './engine/index.ts'
import type { AgentFunction } from './harness/index.ts'
import { chatModelFromEnv, readRecordings } from './models/index.ts'
import { type Estimate, type RateEstimate, type RunSummary, summarize } from './report/index.ts'

/** How to evaluate; exactly one of `agent`, `model` and `policy` says who plays the agent's seat. */
export interface EvaluateOptions<Data = unknown> extends RunControl {
  /** A function that answers; it runs in this process. */
  agent?: AgentFunction<Data>
  /** A model of an OpenAI-compatible endpoint by name (`OPENAI_BASE_URL` and `OPENAI_API_KEY` of the environment), or any `Model`. */
  model?: string | Model
  /** `script:oracle`, `script:noop`, `script:random`, `script:NAME`, or `recorded:PATH`. */
  policy?: string
  /** Who plays other seats: a model's name, a model, or a policy. */
  seats?: Record<Seat, string | Model>
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
  escalate?: boolean
  /** The program round the agent's model, such as `toolLoop({ mostToolErrors: 3 })`; it runs in this process. */
  harness?: Harness
  isolation?: 'worker' | 'inline'
  /** Where to record the run; without it the records are removed once the result is worked out. */
  dir?: string
  /** Coverage from which a headline number is given; 1 when absent. */
  minCoverage?: number
  cwd?: string
}

/** What an evaluation came to. */
export interface RunResult {
  /** Where the run is recorded; undefined when it was not kept. */
  dir: string | undefined
  manifest: ManifestRecord
  /** Every order has its final attempt. */
  complete: boolean
  /** Why the plan was not finished. */
  stop: RunStop | undefined
  reward: Estimate
  success: RateEstimate
  /** Scored orders over orders. */
  coverage: number | null
  summary: RunSummary
}

const evaluateKeys = [
  'agent',
  'model',
  'policy',
  'seats',
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
  'dir',
  'minCoverage',
  'cwd',
  'concurrency',
  'maxTries',
  'maxCostUsd',
  'workers',
  'signal',
  'hardSignal',
  'graceMs',
  'onProgress',
] as const satisfies readonly (keyof EvaluateOptions)[]

/**
 * Runs tasks of an environment and says what came of it. An environment passed as an object runs in this process; one
 * passed as a path or package name runs in isolated workers, unless the agent is a function. Silent; cancelled by
 * `signal`.
 *
 * Throws `QuintainError` for everything that can be known before the first rollout. What goes wrong in a rollout is in
 * the result.
 *
 * @example
 * const run = await evaluate(env, { agent, tasks: 30, repeats: 4 })
 * run.success.value // 0.61
 */
export async function evaluate<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State> | string,
  options: EvaluateOptions<Data>,
): Promise<RunResult> {
  const runOptions = toRunOptions(env as Environment | string, options as EvaluateOptions)
  const end = await startRun(runOptions)
  return resultOf(end, options.dir !== undefined, options.minCoverage)
}

/** What `evaluate` would do: tasks, orders, seats, limits, permissions. Nothing is ordered or recorded. */
export async function plan<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State> | string,
  options: EvaluateOptions<Data>,
): Promise<RunPreview> {
  return previewRun(toRunOptions(env as Environment | string, options as EvaluateOptions))
}

export interface ResumeRunOptions extends RunControl {
  /** The agent of a run that had one. */
  agent?: AgentFunction
  /** The model of a run that had one; by default the one that the run names, from the environment variables. */
  model?: string | Model
  seats?: Record<Seat, string | Model>
  /** The environment object of a run that was made with one. */
  env?: Environment
  /** More tasks or repeats to order into the run. */
  tasks?: number | readonly string[]
  repeats?: number
  split?: string
  retryFaults?: boolean
  force?: boolean
  minCoverage?: number
  cwd?: string
}

/** Finishes a run: what is open, and what ended in faults. The same path as a new run. Throws as `evaluate`, and `run_not_found`, `run_locked`, `run_too_new`, `run_mismatch`. */
export async function resume(dir: string, options: ResumeRunOptions = {}): Promise<RunResult> {
  if (typeof dir !== 'string' || dir === '')
    throw new QuintainError('usage', 'resume() takes the folder of a run as its first argument.')
  const { agent, model, seats, minCoverage, ...rest } = options
  checkMinCoverage(minCoverage)
  checkPlayers(agent, model, seats)
  const players: Record<Seat, Player> = {}
  for (const [seat, player] of Object.entries(seats ?? {})) players[seat] = playerOf(player)
  if (agent !== undefined) players['agent'] = { agent }
  if (model !== undefined)
    players['agent'] = { model: typeof model === 'string' ? chatModelFromEnv(model) : model }
  const manifest = await readManifest(resolve(rest.cwd ?? '.', dir))
  for (const [seat, { policy, endpoint }] of Object.entries(manifest.seats)) {
    const name = /^openai-compatible:(.+)$/.exec(policy)?.[1]
    if (name === undefined || players[seat] !== undefined) continue
    players[seat] = { model: chatModelFromEnv(name, endpoint === undefined ? {} : { baseUrl: endpoint }) }
  }
  const end = await resumeRun({ ...rest, dir, players, openRecordings: readRecordings })
  return resultOf(end, true, minCoverage)
}

async function resultOf(end: RunEnd, keep: boolean, minCoverage: number | undefined): Promise<RunResult> {
  const summary = await summarize(end.dir, minCoverage === undefined ? {} : { minCoverage })
  if (!keep) await removeRun(end.dir)
  return {
    dir: keep ? end.dir : undefined,
    manifest: end.manifest,
    complete: summary.complete,
    stop: end.stop,
    reward: summary.reward,
    success: summary.success,
    coverage: summary.coverage,
    summary,
  }
}

function toRunOptions(env: Environment | string, options: EvaluateOptions): RunOptions {
  if (typeof options !== 'object' || options === null) {
    throw new QuintainError('usage', 'evaluate() takes an environment and options, such as { agent }.')
  }
  refuseUnknown(options, evaluateKeys, 'usage', 'evaluate(): unknown option')
  const { agent, model, policy, seats, minCoverage, ...rest } = options
  checkMinCoverage(minCoverage)
  const given = [agent, model, policy].filter((one) => one !== undefined)
  if (given.length !== 1) {
    throw new QuintainError(
      'usage',
      `Say who plays the agent: exactly one of agent, model and policy (${given.length} given).`,
    )
  }
  if (policy !== undefined && typeof policy !== 'string')
    throw new QuintainError('usage', 'policy is no text; write script:NAME or recorded:FILE.')
  checkPlayers(agent, model, seats)
  const players: Record<Seat, Player> = {}
  if (agent !== undefined) players['agent'] = { agent }
  else if (model !== undefined)
    players['agent'] = { model: typeof model === 'string' ? chatModelFromEnv(model) : model }
  else players['agent'] = { policy: policy! }
  for (const [seat, player] of Object.entries(seats ?? {})) players[seat] = playerOf(player)
  return { ...rest, env, seats: players, openRecordings: readRecordings }
}

function checkMinCoverage(minCoverage: unknown): void {
  if (minCoverage === undefined) return
  if (typeof minCoverage === 'number' && minCoverage >= 0 && minCoverage <= 1) return
  throw new QuintainError('usage', `minCoverage is ${String(minCoverage)}; give a share from 0 to 1.`)
}

/** Refuses, as `usage`, what cannot play a seat. */
function checkPlayers(agent: unknown, model: unknown, seats: unknown): void {
  if (agent !== undefined && typeof agent !== 'function')
    throw new QuintainError('usage', 'agent is no function; an agent is a function that answers with text.')
  if (seats !== undefined && (typeof seats !== 'object' || seats === null || Array.isArray(seats)))
    throw new QuintainError('usage', 'seats is no object of players by seat.')
  for (const [seat, player] of [['agent', model] as const, ...Object.entries(seats ?? {})]) {
    if (player === undefined && seat === 'agent') continue
    const { id, generate } = (player ?? {}) as { id?: unknown; generate?: unknown }
    if (
      (typeof player === 'string' && player !== '') ||
      (typeof id === 'string' && typeof generate === 'function')
    )
      continue
    throw new QuintainError(
      'usage',
      `The player of seat "${seat}" is neither text nor a model; give a model's name, a policy, or { id, generate }.`,
    )
  }
}

function playerOf(player: string | Model): Player {
  if (typeof player !== 'string') return { model: player }
  return /^(script|recorded):/.test(player) ? { policy: player } : { model: chatModelFromEnv(player) }
}

export type { Progress }
