import { type Message, type Seat, type TrajectoryRecord, textOf } from '../core/index.ts'
import { conversationHeads } from './conversation-heads.ts'
import { shortestQuote } from './lineage.ts'

/**
 * What became of a model call. `kept`: on the way to the end of the main conversation. `branch`: of an edited or
 * compacted history, of a sub-agent, or a sample beside the one that was gone on with. `side`: a short answer that nothing
 * used, such as a title. `dead`: asked again, or given up by the program. `failed`: gave no answer.
 */
export type CallClass = (typeof callClasses)[number]
export const callClasses = ['kept', 'branch', 'side', 'dead', 'failed'] as const

/** Longer answers are work, whoever asked for them. */
const longestSideAnswer = 400

/**
 * Sorts the calls of a seat by what became of them, from the record alone; undefined for calls of other seats. The rules
 * and what they cannot tell are in `docs/rows.md`.
 */
export function classifyCalls(trajectory: TrajectoryRecord, seat: Seat = 'agent'): (CallClass | undefined)[] {
  const graph = new Graph(trajectory)
  const { calls } = trajectory
  const classes = calls.map((call, at): CallClass | undefined => {
    if (call.seat !== seat) return undefined
    if (call.output < 0) return call.flags?.includes('client_left') ? 'dead' : 'failed'
    if (graph.goesOn(at)) return 'branch'
    return call.flags?.includes('client_left') || graph.isAnsweredOtherwise(at) ? 'dead' : 'branch'
  })
  const alive = [...calls.keys()].filter((at) => classes[at] === 'branch')
  const conversations = Map.groupBy(alive, (at) => graph.headOf(at))
  const ends = [...conversations].map(([head, of]) => ({ head, until: endOf(of, graph) }))
  for (const [head, [first, second]] of conversations) {
    if (second !== undefined || !graph.isShortAnswer(first!)) continue
    const elsewhere = ends.some((end) => end.head !== head && end.until > first!)
    if (elsewhere && !graph.isUsed(first!)) classes[first!] = 'side'
  }
  for (const at of graph.wayTo(endOfMain(conversations, classes))) classes[at] = 'kept'
  return classes
}

/** Until which call a conversation is known to go on: for good where its last answer was said in the world. */
function endOf(calls: readonly number[], graph: Graph): number {
  const last = calls.at(-1)!
  if (graph.isSaid(last)) return Number.POSITIVE_INFINITY
  return calls.length > 1 ? last : -1
}

/** The last call of the conversation that the others lie within: the longest from its first call to its last. */
function endOfMain(
  conversations: ReadonlyMap<number, readonly number[]>,
  classes: readonly (CallClass | undefined)[],
): number | undefined {
  let longest = -1
  let end: number | undefined
  for (const calls of conversations.values()) {
    const last = calls.at(-1)!
    const span = last - calls[0]!
    if (classes[last] === 'side' || span < longest || (span === longest && last < end!)) continue
    longest = span
    end = last
  }
  return end
}

/** A trajectory as the rules look at it. */
class Graph {
  private readonly trajectory: TrajectoryRecord
  /** Whether anything follows a node. */
  private readonly followed: Uint8Array
  private readonly heads: Int32Array
  /** Prompts, with the tools they were asked with, of which an answer was gone on with. */
  private readonly answered = new Set<string>()
  private readonly callOfOutput = new Map<number, number>()
  /** Texts of messages that no model was seen to say, and those of the agent's that no model was asked with: said in the world. */
  private readonly told: { node: number; text: string }[] = []
  private readonly inWorld = new Set<string>()

  constructor(trajectory: TrajectoryRecord) {
    this.trajectory = trajectory
    const { nodes, calls } = trajectory
    this.followed = new Uint8Array(nodes.length)
    this.heads = conversationHeads(nodes)
    for (const { parent } of nodes) if (parent >= 0) this.followed[parent] = 1
    for (const [at, call] of calls.entries()) {
      if (call.output < 0) continue
      this.callOfOutput.set(call.output, at)
      if (this.goesOn(at)) this.answered.add(this.question(at))
    }
    const asked = new Set<number>()
    for (const { prompt } of calls) {
      for (let node = prompt; node >= 0 && !asked.has(node); node = nodes[node]!.parent) asked.add(node)
    }
    for (const [node, { message, sampled }] of nodes.entries()) {
      if (sampled) continue
      const text = textOf(message.content).trim()
      this.told.push({ node, text })
      if (message.role === 'assistant' && !asked.has(node)) this.inWorld.add(text)
    }
  }

  headOf(at: number): number {
    const { prompt, output } = this.trajectory.calls[at]!
    return this.heads[prompt >= 0 ? prompt : output]!
  }

  goesOn(at: number): boolean {
    return this.followed[this.trajectory.calls[at]!.output] === 1
  }

  /** The first answer of a conversation that did not go on, short and without a tool call. */
  isShortAnswer(at: number): boolean {
    const message = this.outputOf(at)
    if (this.goesOn(at) || message.role !== 'assistant' || message.toolCalls?.length) return false
    const isFirst = this.pathTo(at).every((node) => this.trajectory.nodes[node]!.message.role !== 'assistant')
    return isFirst && textOf(message.content).length <= longestSideAnswer
  }

  /** Another answer to the same question was gone on with. */
  isAnsweredOtherwise(at: number): boolean {
    return this.answered.has(this.question(at))
  }

  /** Its answer stands in a message of another history. */
  isUsed(at: number): boolean {
    const answer = this.answerOf(at)
    if (answer === '') return false
    const own = new Set(this.pathTo(at))
    const holds = (text: string) =>
      text === answer || (answer.length >= shortestQuote && text.includes(answer))
    return this.told.some(({ node, text }) => !own.has(node) && holds(text))
  }

  /** Its answer was said in the world, where the agent's messages are recorded without a model. */
  isSaid(at: number): boolean {
    const answer = this.answerOf(at)
    return answer !== '' && this.inWorld.has(answer)
  }

  /** Calls whose answers lie on the way from the root to that of a call, itself too. */
  wayTo(at: number | undefined): number[] {
    const found: number[] = []
    for (let node = at === undefined ? -1 : this.trajectory.calls[at]!.output; node >= 0; ) {
      const call = this.callOfOutput.get(node)
      if (call !== undefined) found.push(call)
      node = this.trajectory.nodes[node]!.parent
    }
    return found
  }

  private question(at: number): string {
    const { seat, prompt, tools } = this.trajectory.calls[at]!
    return `${seat} ${prompt} ${tools ?? ''}`
  }

  /** Nodes from a call's prompt to the root. */
  private pathTo(at: number): number[] {
    const found: number[] = []
    const { nodes, calls } = this.trajectory
    for (let node = calls[at]!.prompt; node >= 0; node = nodes[node]!.parent) found.push(node)
    return found
  }

  private answerOf(at: number): string {
    return textOf(this.outputOf(at).content).trim()
  }

  private outputOf(at: number): Message {
    return this.trajectory.nodes[this.trajectory.calls[at]!.output]!.message
  }
}
