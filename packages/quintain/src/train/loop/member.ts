import type { VerdictSummary } from '../../core/index.ts'
import type { Rollout } from '../../engine/index.ts'
import { type TokenRow, trainingRows } from '../../rows/index.ts'
import type { GradedRollout } from '../groups.ts'
import type { Algorithm } from '../records.ts'
import { type Unread, unreadOf } from './unread.ts'

/** A verifier that is looked at beside the reward: a metric or reward of the environment by name, or a function. */
export type Shadow = string | ((rollout: Rollout) => number | null)

/** A rollout of a group, as a step learns from it and tells of it. Its trajectory is not kept. */
export interface Member extends GradedRollout {
  success: boolean | null
  shadow: number | null
  /** Replies that were no proper message of the policy. */
  malformed: boolean
  turns: number
  /** Optimiser steps of the oldest weights that sampled any of it; undefined where nothing was sampled. */
  oldest: number | undefined
  /** Why it has no reward, in one line. */
  unscored: string | undefined
  /** Why the policy has read nothing of what it was told. */
  unread: Unread | undefined
}

/** Flags of replies that a renderer could not make a message of. */
const malformedFlags = ['malformed_call', 'special_token']

/** What a step needs of a rollout. Its rows are made here, once. */
export function memberOf(
  rollout: Rollout,
  { shadow, turns }: { shadow?: Shadow | undefined; turns?: Algorithm['turns'] } = {},
): Member {
  const { order, attempt, trajectory, tokens } = rollout
  const { verdict, fault, counts } = attempt
  const { rows } = trainingRows(trajectory, { tokens, verdict })
  const reward = fault === null ? (verdict?.reward ?? null) : null
  const sampled = rows.reduce((sum, row) => sum + trainedTokens(row), 0)
  const steps = turns === undefined ? undefined : stepsOf(rollout, turns)
  return {
    order: order.id,
    rows,
    reward,
    ...(steps === undefined ? {} : { steps, calls: agentCalls(rollout) }),
    truncated: attempt.outcome === 'truncated' || rows.some(({ truncated }) => truncated),
    tokens: sampled,
    success: fault === null ? (verdict?.success ?? null) : null,
    shadow: fault === null ? shadowOf(rollout, shadow) : null,
    malformed: malformedFlags.some((flag) => (counts.flags?.[flag] ?? 0) > 0),
    turns: counts.turns,
    oldest: oldestVersion(rows),
    unscored: reward === null ? whyUnscored(fault?.message, verdict) : undefined,
    unread: unreadOf(attempt),
  }
}

function trainedTokens({ mask }: TokenRow): number {
  let count = 0
  for (const one of mask) count += one
  return count
}

/** Rewards of turns: those of the component that is named, else of the only one that has some. */
function stepsOf(rollout: Rollout, { component }: NonNullable<Algorithm['turns']>): number[] | undefined {
  const components = rollout.verdict()?.components ?? {}
  if (component !== undefined) return components[component]?.steps
  return Object.values(components).find(({ steps }) => steps !== undefined)?.steps
}

/** Places of the agent's calls in the trajectory: the turns that steps are of. */
function agentCalls({ trajectory: { calls } }: Rollout): number[] {
  return calls.flatMap(({ seat }, at) => (seat === 'agent' ? [at] : []))
}

function shadowOf(rollout: Rollout, shadow: Shadow | undefined): number | null {
  if (shadow === undefined) return null
  if (typeof shadow === 'function') return shadow(rollout)
  return namedValue(rollout.attempt.verdict, shadow)
}

/** A metric of the environment by its name, or a reward. */
export function namedValue(verdict: VerdictSummary | null, name: string): number | null {
  return verdict?.metrics[name] ?? verdict?.rewards[name] ?? null
}

function oldestVersion(rows: readonly TokenRow[]): number | undefined {
  const versions = versionsIn(rows)
  return versions.length === 0 ? undefined : Math.min(...versions)
}

/** Optimiser steps of the weights that sampled rows, as often as they were changed. */
export function versionsIn(rows: readonly TokenRow[]): number[] {
  return rows.flatMap(({ spans }) =>
    spans.flatMap(({ version }) => {
      const number = Number(version)
      return version === undefined || !Number.isInteger(number) ? [] : [number]
    }),
  )
}

function whyUnscored(fault: string | undefined, verdict: VerdictSummary | null): string {
  if (fault !== undefined) return fault
  const { unscored } = verdict ?? {}
  return unscored === undefined ? 'it was not graded' : `${unscored.component}: ${unscored.reason}`
}
