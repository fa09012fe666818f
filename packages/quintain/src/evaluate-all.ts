import {
  type Environment,
  type Harness,
  type Model,
  QuintainError,
  refuseUnknown,
  removeRun,
} from './core/index.ts'
import { type Player, startPanel } from './engine/index.ts'
import { type RunResult, resultOf } from './evaluate.ts'
import {
  type AgentOptions,
  agentKeys,
  agentPlayer,
  checkOptions,
  judgesOf,
  type SharedOptions,
  seatsOf,
  sharedKeys,
} from './evaluate-options.ts'
import type { AgentFunction } from './harness/index.ts'
import { readRecordings } from './models/index.ts'
import { type Comparison, compareRuns, type RegressionOptions } from './report/index.ts'
import { openSandboxDriver } from './sandbox-drivers.ts'

/** Who plays the agent in turns, and how the runs are compared; at least one player in all. */
export interface EvaluateAllOptions<Data = unknown> extends SharedOptions {
  /**
   * Agents by the names that the records give them: functions or harnesses, alone or with what answers their model calls
   * (`{ agent, model }`, `{ agent, policy }`). They run in this process.
   */
  agents?: Readonly<Record<string, AgentFunction<Data> | Harness | AgentOptions<Data>>>
  /** One agent that plays with each of `models` and `policies` behind it. */
  agent?: AgentOptions<Data>['agent']
  /** Models by name, or any `Model`. */
  models?: readonly (string | Model)[]
  /** `script:NAME` or `recorded:PATH`. */
  policies?: readonly string[]
  /** Compare each with the first (the default), or all pairs. */
  pairs?: 'first' | 'all'
  /** Look for a regression of each from the first. */
  regression?: RegressionOptions
}

/** What several players of one plan came to. */
export interface EvaluateAllResult {
  /** The folder that holds the runs; undefined when they were not kept. */
  dir: string | undefined
  /** In the order agents, models, policies, each as given. */
  runs: RunResult[]
  /** Null for a single player. */
  comparison: Comparison | null
  /** Every order of every run has its final attempt. */
  complete: boolean
}

const evaluateAllKeys = [
  'agent',
  'agents',
  'models',
  'policies',
  'pairs',
  'regression',
  ...sharedKeys,
] as const satisfies readonly (keyof EvaluateAllOptions)[]

/** As the package exports it (`measuring.ts`). */
export async function evaluateAll<Options, Data, Secret, State>(
  env: Environment<Options, Data, Secret, State> | string,
  options: EvaluateAllOptions<Data>,
): Promise<EvaluateAllResult> {
  checkOptions(options, evaluateAllKeys, 'evaluateAll()')
  const { agent, agents, models, policies, seats, judges, minCoverage, pairs, regression, ...rest } =
    options as EvaluateAllOptions
  const players = playersOf({ agent, agents, models, policies })
  const others = seatsOf(seats)
  const end = await startPanel({
    ...rest,
    env: env as Environment | string,
    players,
    seats: others,
    judges: judgesOf(judges),
    openRecordings: readRecordings,
    openSandbox: openSandboxDriver,
  })
  const keep = options.dir !== undefined
  const compared =
    end.runs.length < 2
      ? null
      : await compareRuns(
          end.runs.map(({ dir }) => dir),
          {
            // One plan and one environment, be it one that was passed as an object; what differs is the players.
            force: true,
            ...(pairs === undefined ? {} : { pairs }),
            ...(minCoverage === undefined ? {} : { minCoverage }),
            ...(regression === undefined ? {} : { regression }),
          },
        )
  const comparison =
    compared && keep
      ? compared
      : compared && { ...compared, runs: compared.runs.map((run) => ({ ...run, dir: '' })) }
  const runs: RunResult[] = []
  for (const run of end.runs) runs.push(await resultOf(run, keep, minCoverage))
  if (!keep) await removeRun(end.dir)
  return {
    dir: keep ? end.dir : undefined,
    runs,
    comparison,
    complete: runs.every(({ complete }) => complete),
  }
}

/** The players of the agent's seat, in the order agents, models, policies. Throws `usage`. */
function playersOf({
  agent,
  agents = {},
  models = [],
  policies = [],
}: {
  agent: EvaluateAllOptions['agent'] | undefined
  agents: EvaluateAllOptions['agents'] | undefined
  models: EvaluateAllOptions['models'] | undefined
  policies: EvaluateAllOptions['policies'] | undefined
}): Player[] {
  if (typeof agents !== 'object' || agents === null || Array.isArray(agents)) {
    throw new QuintainError('usage', 'agents is no object of agents by name, such as { before, after }.')
  }
  for (const [name, list] of Object.entries({ models, policies })) {
    if (!Array.isArray(list)) throw new QuintainError('usage', `${name} is no list.`)
  }
  const players: Player[] = []
  for (const [name, one] of Object.entries(agents)) {
    if (isAgentWithMore(one)) refuseUnknown(one, agentKeys, 'usage', `agents.${name}: unknown option`)
    players.push(agentPlayer(isAgentWithMore(one) ? one : { agent: one }, name))
  }
  const round = agent === undefined ? {} : { agent }
  for (const model of models) players.push(agentPlayer({ ...round, model }))
  for (const policy of policies) players.push(agentPlayer({ ...round, policy }))
  if (agent !== undefined && models.length + policies.length === 0) players.push(agentPlayer(round))
  if (players.length === 0) {
    throw new QuintainError('usage', 'Say who plays: agents, models or policies, one of them at least.')
  }
  return players
}

/** An agent with what is behind it, and not a harness or a function. */
function isAgentWithMore(one: AgentFunction | Harness | AgentOptions): one is AgentOptions {
  return typeof one === 'object' && one !== null && 'agent' in one
}
