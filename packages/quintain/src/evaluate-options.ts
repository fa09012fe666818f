import { type Harness, type Model, QuintainError, refuseUnknown, type Seat } from './core/index.ts'
import {
  type Behind,
  checkHarness,
  controlNames,
  type PlanOptions,
  type Player,
  planNames,
  type RunControl,
} from './engine/index.ts'
import type { AgentFunction } from './harness/index.ts'
import { chatModelFromEnv } from './models/index.ts'

/** Who plays the agent's seat: an agent of yours, a model, or a policy; or an agent and what answers its model calls. */
export interface AgentOptions<Data = unknown> {
  /** A function that answers, or a harness such as `command(['node', 'agent.js'])`. It runs in the main process. */
  agent?: AgentFunction<Data> | Harness
  /** A model of an OpenAI-compatible endpoint by name (`OPENAI_BASE_URL` and `OPENAI_API_KEY` of the environment), or any `Model`. */
  model?: string | Model
  /** `script:oracle`, `script:noop`, `script:random`, `script:NAME`, or `recorded:PATH`. */
  policy?: string
}

/** Who plays the other seats, and what a number must rest on. */
export interface SharedOptions extends RunControl, PlanOptions {
  /** Who plays other seats: a model's name, a model, or a policy. */
  seats?: Record<Seat, string | Model>
  /** Models that the environment's graders ask: one for all of its judges, or one for each by name. */
  judges?: Judges
  /** Coverage from which a headline number is given; 1 when absent. */
  minCoverage?: number
}

export const sharedKeys = ['seats', 'judges', 'minCoverage', ...planNames, ...controlNames] as const
export const agentKeys = ['agent', 'model', 'policy'] as const

function modelPlayer(model: string | Model): { model: Model } {
  return { model: typeof model === 'string' ? chatModelFromEnv(model) : model }
}

/** What answers model calls: one of the two at most. Throws `usage`. */
function behindOf({ model, policy }: AgentOptions): Behind | undefined {
  if (model !== undefined && policy !== undefined)
    throw new QuintainError('usage', 'Give a model or a policy, not both: one of them answers.')
  if (model !== undefined) return modelPlayer(model)
  if (policy === undefined) return undefined
  if (typeof policy !== 'string')
    throw new QuintainError('usage', 'policy is no text; write script:NAME or recorded:FILE.')
  return { policy }
}

/** The player of the agent's seat; `name` is what records call an agent. Throws `usage`. */
export function agentPlayer(options: AgentOptions, name?: string): Player {
  const { agent, model } = options
  if (agent !== undefined) checkAgent(agent)
  if (model !== undefined) checkPlayer('agent', model)
  const behind = behindOf(options)
  if (agent === undefined && behind === undefined)
    throw new QuintainError(
      'usage',
      'Say who plays the agent: agent, model or policy, or an agent with one of the two.',
    )
  if (agent === undefined) return behind!
  return {
    agent: agent as AgentFunction | Harness,
    ...(name === undefined ? {} : { name }),
    ...(behind === undefined ? {} : { behind }),
  }
}

/** The players of the other seats. Throws `usage`. */
export function seatsOf(seats: Record<Seat, string | Model> | undefined): Record<Seat, Player> {
  if (seats !== undefined && (typeof seats !== 'object' || seats === null || Array.isArray(seats)))
    throw new QuintainError('usage', 'seats is no object of players by seat.')
  const players: Record<Seat, Player> = {}
  for (const [seat, player] of Object.entries(seats ?? {})) {
    checkPlayer(seat, player)
    players[seat] = playerOf(player)
  }
  return players
}

/** A model for every judge, or models by the judge's name. */
export type Judges = string | Model | Readonly<Record<string, string | Model>>

/** The models that stand for judges. Throws `usage`. */
export function judgesOf(judges: Judges | undefined): Record<string, Model> {
  if (judges === undefined) return {}
  const named = typeof judges === 'string' || isModel(judges) ? { '*': judges } : judges
  if (typeof named !== 'object' || named === null || Array.isArray(named))
    throw new QuintainError('usage', 'judges is no model, and no object of models by the name of the judge.')
  return Object.fromEntries(
    Object.entries(named).map(([name, model]: [string, unknown]) => {
      if (typeof model === 'string' && model !== '') return [name, chatModelFromEnv(model)]
      if (isModel(model)) return [name, model]
      throw new QuintainError('usage', `The judge "${name}" is neither a model's name nor a model.`)
    }),
  )
}

function isModel(value: unknown): value is Model {
  const { id, generate } = (value ?? {}) as { id?: unknown; generate?: unknown }
  return typeof id === 'string' && typeof generate === 'function'
}

/** Refuses what are no options, and an option that does not exist. */
export function checkOptions(options: object, keys: readonly string[], name: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new QuintainError('usage', `${name} takes an environment and options, such as { agent }.`)
  }
  refuseUnknown(options, keys, 'usage', `${name}: unknown option`)
  const { minCoverage } = options as { minCoverage?: unknown }
  checkMinCoverage(minCoverage)
}

export function checkMinCoverage(minCoverage: unknown): void {
  if (minCoverage === undefined) return
  if (typeof minCoverage === 'number' && minCoverage >= 0 && minCoverage <= 1) return
  throw new QuintainError('usage', `minCoverage is ${String(minCoverage)}; give a share from 0 to 1.`)
}

/** Refuses, as `usage`, what is no agent. */
function checkAgent(agent: unknown): void {
  if (typeof agent === 'function') return
  if (typeof agent !== 'object' || agent === null)
    throw new QuintainError(
      'usage',
      'agent is no function; an agent is a function that answers with text, or a harness such as command([…]).',
    )
  checkHarness('agent', agent as Harness)
}

/** Refuses, as `usage`, what is neither the name of a player nor a model. */
function checkPlayer(seat: Seat, player: unknown): void {
  if (typeof player === 'string' && player !== '') return
  if (isModel(player)) return
  throw new QuintainError(
    'usage',
    `The player of seat "${seat}" is neither text nor a model; give a model's name, a policy, or { id, generate }.`,
  )
}

function playerOf(player: string | Model): Player {
  if (typeof player === 'string' && /^(script|recorded):/.test(player)) return { policy: player }
  return modelPlayer(player)
}
