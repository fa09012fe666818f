import {
  type AssistantMessage,
  type Cut,
  didYouMean,
  type Model,
  type OrderRecord,
  QuintainError,
  type Sampling,
  type Seat,
} from '../core/index.ts'
import type { RecordedCall } from '../models/index.ts'
import { type Agent, agentName } from './agent.ts'
import type { HostDescription, PolicySpec } from './protocol.ts'

/** What answers the model calls of a seat: a model, `script:NAME`, or `recorded:PATH`. */
export type Behind = { model: Model } | { policy: string }

/** An agent as a user brings it, with a name for the records (else its own), and what answers its model calls; nothing when it brings its own model. */
export interface AgentPlayer {
  agent: Agent
  name?: string
  /** Of what it is made of, where that is known better than the agent shows: a run goes on with no other. */
  digest?: string
  behind?: Behind
}

/** Who plays a seat, as a user says it. */
export type Player = Behind | AgentPlayer

/** Replies that were recorded, found by task and repeat. */
export interface Recordings {
  replies(task: string, repeat: number): readonly AssistantMessage[] | undefined
  /** What its model was asked, where that is known: for a policy behind an agent. */
  calls?(task: string, repeat: number): readonly RecordedCall[] | undefined
  /** How the rollout was cut when it was recorded, where that is known. */
  cut?(task: string, repeat: number): Cut | undefined
}

/** What answers the model calls of a player; undefined for an agent that brings its own model. */
export function behindOf(player: Player | undefined): Behind | undefined {
  return player !== undefined && 'agent' in player ? player.behind : player
}

/** The model of a player, if it is one that we call. */
export function modelOf(player: Player | undefined): Model | undefined {
  const behind = behindOf(player)
  return behind !== undefined && 'model' in behind ? behind.model : undefined
}

/** The policy of a seat as data, from how the user named it. Throws `policy_invalid`. */
export function policySpec(given: Player): PolicySpec {
  const player = behindOf(given)
  if (player === undefined) return { kind: 'agent', id: agentName(given as AgentPlayer) }
  if ('model' in player) return { kind: 'model', id: player.model.id }
  const [kind, ...rest] = player.policy.split(':')
  const name = rest.join(':')
  if (kind === 'script' && name !== '') return { kind: 'script', name }
  if (kind === 'recorded' && name !== '') return { kind: 'recorded', id: name }
  throw new QuintainError(
    'policy_invalid',
    `Policy "${player.policy}": write script:NAME (oracle, noop, random, or one the environment ships) or recorded:FILE. A model is named with -m.`,
    { facts: { policy: player.policy } },
  )
}

/** The name of a policy in records and reports. */
export function policyName(policy: PolicySpec): string {
  switch (policy.kind) {
    case 'script':
      return `script:${policy.name}`
    case 'recorded':
      return `recorded:${policy.id}`
    case 'agent':
      return `agent:${policy.id}`
    case 'model':
      return policy.id
  }
}

/** Sampling of one order: each repeat has a seed of its own. */
export function samplingOf(sampling: Sampling, order: OrderRecord): Sampling {
  return sampling.seed === undefined ? sampling : { ...sampling, seed: sampling.seed + order.repeat }
}

/** The seats with the scripts that an environment ships for those that nobody else plays. */
export function withScriptedSeats(
  seats: Readonly<Record<Seat, PolicySpec>>,
  scripted: readonly Seat[],
): Record<Seat, PolicySpec> {
  const all: Record<Seat, PolicySpec> = { ...seats }
  for (const seat of scripted) all[seat] ??= { kind: 'script', name: 'play' }
  return all
}

/** US dollars of an attempt that is gone without a record: nothing for scripts, unknown where a model may have been called. */
export function spentUnseen({
  seats,
  judges = {},
}: {
  seats: Readonly<Record<Seat, PolicySpec>>
  judges?: Readonly<Record<string, string>>
}): number | null {
  const asks = Object.values(seats).some(({ kind }) => kind === 'model' || kind === 'agent')
  return asks || Object.keys(judges).length > 0 ? null : 0
}

/**
 * Checks that every seat has a player and every script exists. Throws `policy_unknown`, with the nearest name, and
 * `needs_unmet` for a seat that nobody plays.
 */
export function checkPolicies(
  seats: Record<Seat, PolicySpec>,
  description: HostDescription,
  hasTools: boolean,
): void {
  for (const seat of description.seats) {
    if (seats[seat] !== undefined) continue
    throw new QuintainError(
      'needs_unmet',
      `Seat "${seat}" has no player: the environment ships no script for it. Name one with --seat ${seat}=MODEL or --seat ${seat}=script:NAME.`,
      { facts: { seat } },
    )
  }
  for (const [seat, policy] of Object.entries(seats)) {
    if (!description.seats.includes(seat)) {
      throw new QuintainError(
        'policy_unknown',
        `There is no seat "${seat}"${didYouMean(seat, description.seats)} Seats: ${description.seats.join(', ')}.`,
        { facts: { seat } },
      )
    }
    if (policy.kind !== 'script') continue
    const known = ['noop', ...(description.oracle ? ['oracle'] : []), ...description.policies]
    if (hasTools && !known.includes('random')) known.push('random')
    if (policy.name === 'play' && description.scripted.includes(seat)) continue
    if (Object.hasOwn(description.unplayable, policy.name)) {
      throw new QuintainError(
        'options_invalid',
        `script:${policy.name} cannot play with these options: ${description.unplayable[policy.name]}`,
        { facts: { policy: policy.name } },
      )
    }
    if (known.includes(policy.name)) continue
    const why =
      policy.name === 'oracle'
        ? 'this environment has no oracle.'
        : policy.name === 'random'
          ? 'this environment has no tools and ships no policies.random, so nobody knows what a legal move is.'
          : `this environment has no policy "${policy.name}"${didYouMean(policy.name, known)}`
    throw new QuintainError('policy_unknown', `script:${policy.name}: ${why} Scripts: ${known.join(', ')}.`, {
      facts: { policy: policy.name, known },
    })
  }
}
