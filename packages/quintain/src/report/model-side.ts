import { conversationOf } from '../core/conversation.ts'
import type { CallRecord, MessageNode, TrajectoryRecord } from '../core/records.ts'

/** What is looked at of a call. */
type Call = Pick<CallRecord, 'seat' | 'prompt' | 'output'>

/** A call of a model whose agent played from outside: it was asked other things than were said in the world. */
export interface AskedCall<C extends Call = CallRecord> {
  /** Its place among the calls of the trajectory. */
  number: number
  call: C
  /** The nearest call on the way to its prompt, whose conversation it goes on with; undefined where it begins one. */
  from: number | undefined
  /** Nodes of its prompt, and its output, that neither the conversation nor a call before it has. */
  news: number[]
}

/** The two sides of a trajectory, each node in one of them. */
export interface Sides<C extends Call = CallRecord> {
  /** Nodes of what was said in the world, in the order in which they were recorded. */
  conversation: number[]
  /** What models were asked beside it; empty where nobody played from outside. */
  asked: AskedCall<C>[]
  /** Seats that were played from outside: nothing of what they said in the world was sampled there. */
  outside: ReadonlySet<string>
}

/** Parts what was said in the world, which graders read, from what the models of agents outside were asked. */
export function sidesOf<C extends Call>({
  nodes,
  calls,
  leaves,
}: Pick<TrajectoryRecord, 'nodes' | 'leaves'> & { calls: readonly C[] }): Sides<C> {
  const ofWorld = new Map<string, Set<number>>()
  for (const seat of Object.keys(leaves ?? {})) {
    const way = conversationOf({ nodes, leaves }, seat)
    // Where a model's words stand in it there are no two sides: its harness ran beside the world.
    if (!way.some((at) => nodes[at]!.sampled)) ofWorld.set(seat, new Set(way))
  }
  const conversation = [...nodes.keys()].filter((at) => ofWorld.get(nodes[at]!.seat)?.has(at) ?? true)
  const shown = new Set(conversation)
  const byOutput = new Map<number, number>()
  const asked: AskedCall<C>[] = []
  for (const [number, call] of calls.entries()) {
    if (!ofWorld.has(call.seat)) continue
    const prompt = wayTo(nodes, call.prompt)
    const from = prompt.findLast((at) => byOutput.has(at))
    const news = [...prompt, ...(call.output < 0 ? [] : [call.output])].filter((at) => !shown.has(at))
    for (const at of news) shown.add(at)
    asked.push({ number, call, from: from === undefined ? undefined : byOutput.get(from), news })
    if (call.output >= 0) byOutput.set(call.output, number)
  }
  return { conversation, asked, outside: new Set(ofWorld.keys()) }
}

/** Nodes from the root to one, that one last; none for -1. */
export function wayTo(nodes: readonly MessageNode[], node: number): number[] {
  const found: number[] = []
  for (let at = node; at >= 0; at = nodes[at]!.parent) found.push(at)
  return found.reverse()
}

/** Why a call gave no message. */
export function failureText({ fault, flags }: Pick<CallRecord, 'fault' | 'flags'>): string {
  if (fault !== undefined) return `${fault.code}: ${fault.message}`
  return flags?.includes('client_left') ? 'its caller left' : 'gave no message'
}
