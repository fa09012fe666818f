import {
  type AssistantMessage,
  canonicalJson,
  type Message,
  type ToolRecord,
  type TrajectoryRecord,
  textOf,
  type VerdictSummary,
} from '../../core/index.ts'
import type { Rollout } from '../../engine/index.ts'
import { namedValue } from '../loop/member.ts'
import type { Act, Script } from './script.ts'

/** A rollout as the probe looks at it. */
export interface Played {
  /** `TASK#REPEAT` of the run in which it lies. */
  order: string
  task: string
  /** Null where it was not scored. */
  reward: number | null
  /** Null where the environment does not say what success is; with a shadow verifier, what that says. */
  success: boolean | null
  /** What was said to the agent, and what it did. */
  messages: readonly Message[]
  acts: readonly Act[]
  /** Why it has no reward. */
  unscored?: string
}

/** A rollout of a script. */
export interface Try extends Played {
  script: Script
}

interface Ended {
  order: string
  task: string
  fault: string | undefined
  verdict: VerdictSummary | null
  trajectory: Pick<TrajectoryRecord, 'nodes'>
}

/** `shadow`: the metric that says what success is, where the environment's own word is in doubt; 0.5 and more is. */
export function playedOf(
  { order, task, fault, verdict, trajectory }: Ended,
  shadow: string | undefined,
): Played {
  const messages = trajectory.nodes.filter(({ seat }) => seat === 'agent').map(({ message }) => message)
  const reward = fault === undefined ? (verdict?.reward ?? null) : null
  const unscored = reward === null ? (fault ?? verdict?.unscored?.reason ?? 'it was not graded') : undefined
  return {
    order,
    task,
    reward,
    success: shadow === undefined ? (verdict?.success ?? null) : isReached(namedValue(verdict, shadow)),
    messages,
    acts: messages.flatMap((message) => (message.role === 'assistant' ? [actOf(message)] : [])),
    ...(unscored === undefined ? {} : { unscored }),
  }
}

/** A rollout that is at hand. */
export function playedRollout({ order, attempt, trajectory }: Rollout, shadow: string | undefined): Played {
  const { fault, verdict } = attempt
  return playedOf({ order: order.id, task: order.task, fault: fault?.message, verdict, trajectory }, shadow)
}

function isReached(shadow: number | null): boolean | null {
  return shadow === null ? null : shadow >= 0.5
}

/** The tools that the agent had. */
export function toolsIn({ trajectory }: Rollout): readonly ToolRecord[] {
  return trajectory.seats['agent']?.tools ?? []
}

function actOf({ content, toolCalls = [] }: AssistantMessage): Act {
  const calls = toolCalls.map(({ name, arguments: given }) => ({ name, arguments: objectOf(given) }))
  return { text: textOf(content), ...(calls.length === 0 ? {} : { calls }) }
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/** All that was done, as one text: what is counted and compared. */
export function saidIn(acts: readonly Act[]): string {
  return acts
    .map(({ text, calls = [] }) =>
      [text, ...calls.map((call) => `${call.name}(${canonicalJson(call.arguments)})`)].join('\n').trim(),
    )
    .join('\n')
    .trim()
}
