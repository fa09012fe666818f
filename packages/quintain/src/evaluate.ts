import { resolve } from 'node:path'
import {
  type Environment,
  type ManifestRecord,
  type Model,
  QuintainError,
  readManifest,
  removeRun,
  type Seat,
} from './core/index.ts'
import {
  type ExtendOptions,
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
import {
  type AgentOptions,
  agentKeys,
  agentPlayer,
  checkMinCoverage,
  checkOptions,
  type Judges,
  judgesOf,
  type SharedOptions,
  seatsOf,
  sharedKeys,
} from './evaluate-options.ts'
import { modelAgain, readRecordings } from './models/index.ts'
import { type Estimate, type RateEstimate, type RunSummary, summarize } from './report/index.ts'
import { openSandboxDriver } from './sandbox-drivers.ts'

/** How to evaluate, and who plays the agent's seat. */
export interface EvaluateOptions<Data = unknown> extends SharedOptions, AgentOptions<Data> {}

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

const evaluateKeys = [...agentKeys, ...sharedKeys] as const satisfies readonly (keyof EvaluateOptions)[]

/** As the package exports it (`measuring.ts`). */
export async function evaluate<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State> | string,
  options: EvaluateOptions<Data>,
): Promise<RunResult> {
  const runOptions = toRunOptions(env as Environment | string, options as EvaluateOptions)
  const end = await startRun(runOptions)
  return resultOf(end, options.dir !== undefined, options.minCoverage)
}

/** As the package exports it. */
export async function plan<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State> | string,
  options: EvaluateOptions<Data>,
): Promise<RunPreview> {
  return previewRun(toRunOptions(env as Environment | string, options as EvaluateOptions))
}

export interface ResumeRunOptions extends RunControl, ExtendOptions {
  /** The agent of a run that had one: the same again. */
  agent?: AgentOptions['agent']
  /** The model of a run that had one; by default the one that the run names, from the environment variables. */
  model?: string | Model
  seats?: Record<Seat, string | Model>
  /** The judges of a run that had some; by default those that the run names, from the environment variables. */
  judges?: Judges
  minCoverage?: number
}

/** As the package exports it. */
export async function resume(dir: string, options: ResumeRunOptions = {}): Promise<RunResult> {
  if (typeof dir !== 'string' || dir === '')
    throw new QuintainError('usage', 'resume() takes the folder of a run as its first argument.')
  const { agent, model, seats, judges, minCoverage, ...rest } = options
  checkMinCoverage(minCoverage)
  const players = seatsOf(seats)
  if (agent !== undefined || model !== undefined) {
    const given = { ...(agent === undefined ? {} : { agent }), ...(model === undefined ? {} : { model }) }
    players['agent'] = agentPlayer(given)
  }
  const manifest = await readManifest(resolve(rest.cwd ?? '.', dir))
  for (const [seat, recorded] of Object.entries(manifest.seats)) {
    const player = players[seat]
    const isBare = player !== undefined && 'agent' in player && player.behind === undefined
    if (player !== undefined && !isBare) continue
    const model = modelAgain(recorded)
    if (model !== undefined) players[seat] = isBare ? { ...player, behind: { model } } : { model }
  }
  const judgeModels = judgesOf(judges)
  for (const [judge, recorded] of Object.entries(manifest.judges ?? {})) {
    if (judgeModels[judge] !== undefined || judgeModels['*'] !== undefined) continue
    const model = modelAgain(recorded)
    if (model !== undefined) judgeModels[judge] = model
  }
  const end = await resumeRun({
    ...rest,
    dir,
    players,
    judges: judgeModels,
    openRecordings: readRecordings,
    openSandbox: openSandboxDriver,
  })
  return resultOf(end, true, minCoverage)
}

/** What a run that has ended came to; removes its records unless they are kept. */
export async function resultOf(
  end: RunEnd,
  keep: boolean,
  minCoverage: number | undefined,
): Promise<RunResult> {
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
  checkOptions(options, evaluateKeys, 'evaluate()')
  const {
    agent: _agent,
    model: _model,
    policy: _policy,
    seats,
    judges,
    minCoverage: _minCoverage,
    ...rest
  } = options
  return {
    ...rest,
    env,
    seats: { agent: agentPlayer(options), ...seatsOf(seats) },
    judges: judgesOf(judges),
    openRecordings: readRecordings,
    openSandbox: openSandboxDriver,
  }
}

export type { Progress }
