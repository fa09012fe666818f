import { isDeepStrictEqual } from 'node:util'
import type { TrajectoryRecord } from '../../core/index.ts'
import { type ChatRow, trainingRows } from '../../rows/index.ts'
import { type WireMessage, type WireTool, wireMessage, wireTool } from './chat-wire.ts'
import type { AttemptLineage, RunLineage } from './lineage.ts'

/** A pair as preference trainers read it: what both were asked, and how each went on. */
export interface PreferenceRow {
  lineage: RunLineage & {
    chosen: AttemptLineage
    rejected: AttemptLineage
    /** The least difference of rewards that was asked for (`--margin`); 0 is any. */
    margin: number
    /** The difference of the rewards of this pair: that of `chosen` less that of `rejected`. */
    difference: number
  }
  prompt: WireMessage[]
  chosen: WireMessage[]
  rejected: WireMessage[]
  tools?: WireTool[]
}

/** Why two attempts make no pair although their rewards differ. */
export type NoPair = 'no_calls' | 'prompts_differ' | 'same_text' | 'tools_differ'

/** The conversation to the end of what an attempt mainly said; undefined where it said nothing. */
export function mainConversation(trajectory: TrajectoryRecord, seat: string): ChatRow | undefined {
  return trainingRows(trajectory, { seat, textOnly: true, classes: ['kept'] }).rows[0]
}

/**
 * The row of a pair. The prompt is all that both conversations begin with, up to a place where the model spoke in both:
 * turns that are the same in both are no preference. Where the environment answered the same words differently, the words
 * before it are in both answers.
 */
export function preferenceRow(
  better: ChatRow | undefined,
  worse: ChatRow | undefined,
  lineage: PreferenceRow['lineage'],
): PreferenceRow | NoPair {
  if (better === undefined || worse === undefined) return 'no_calls'
  if (!isDeepStrictEqual(better.tools ?? [], worse.tools ?? [])) return 'tools_differ'
  const [chosen, rejected] = [better, worse].map(({ messages }) => messages.map(wireMessage))
  const most = Math.min(chosen!.length, rejected!.length)
  let common = 0
  while (common < most && saySame(chosen![common]!, rejected![common]!)) common++
  if (common === chosen!.length && common === rejected!.length) return 'same_text'
  let start = Math.min(common, most - 1)
  while (start >= 0 && !(better.trained[start] && worse.trained[start])) start--
  // Nothing before it would be no prompt.
  if (start <= 0) return 'prompts_differ'
  const { tools } = better
  return {
    lineage,
    prompt: chosen!.slice(0, start),
    chosen: chosen!.slice(start),
    rejected: rejected!.slice(start),
    ...(tools === undefined ? {} : { tools: tools.map(wireTool) }),
  }
}

/** Ids of calls are made up anew in every attempt and say nothing. */
function saySame(one: WireMessage, other: WireMessage): boolean {
  return isDeepStrictEqual(withoutIds(one), withoutIds(other))
}

function withoutIds({ tool_call_id: _, tool_calls: calls, ...message }: WireMessage): unknown {
  return { ...message, calls: calls?.map((call) => call.function) }
}
