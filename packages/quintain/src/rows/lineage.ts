import { type CallRecord, type Message, type TrajectoryRecord, textOf } from '../core/index.ts'
import { conversationHeads } from './conversation-heads.ts'

/** A shorter text stands in others by chance. */
export const shortestQuote = 20
/** A summary is of one of the latest conversations: a program with thousands of them is not compared with all. */
const mostSummedUp = 64

/** Which of the calls that are in rows a later one comes from. */
export class Lineage {
  private readonly trajectory: TrajectoryRecord
  private readonly heads: Int32Array
  private readonly byOutput = new Map<number, number>()
  /** The latest call by what it said, and by its conversation. */
  private readonly bySaying = new Map<string, number>()
  private readonly byHead = new Map<number, number>()
  /** Prompts that were asked with. */
  private readonly prompts = new Set<number>()
  /** The last call of each conversation, in rows or not. */
  private readonly ends = new Map<number, number>()

  constructor(trajectory: TrajectoryRecord) {
    this.trajectory = trajectory
    this.heads = conversationHeads(trajectory.nodes)
    for (const [at, { prompt, output }] of trajectory.calls.entries())
      if (output >= 0) this.ends.set(this.headOf(prompt, output), at)
  }

  add(at: number): void {
    const { prompt, output } = this.trajectory.calls[at]!
    this.byOutput.set(output, at)
    this.bySaying.set(sayingOf(this.trajectory.nodes[output]!.message), at)
    this.byHead.set(this.headOf(prompt, output), at)
    this.prompts.add(prompt)
  }

  /** Whether the same was asked before: another answer to it goes on from nothing that the first one's branch holds. */
  wasAsked({ prompt }: CallRecord): boolean {
    return this.prompts.has(prompt)
  }

  /** The nearest call on the way to a prompt. */
  parentOf({ prompt }: CallRecord): number | undefined {
    const { nodes } = this.trajectory
    for (let node = prompt; node >= 0; node = nodes[node]!.parent) {
      const call = this.byOutput.get(node)
      if (call !== undefined) return call
    }
    return undefined
  }

  /**
   * The call that a prompt which comes from none was made from: the one that said what its last reply says, since the
   * messages before were edited; else the latest of the conversation; else the end of one that this one sums up.
   */
  leftBy({ prompt, output }: CallRecord): number | undefined {
    const { nodes } = this.trajectory
    for (let node = prompt; node >= 0; node = nodes[node]!.parent) {
      const { message } = nodes[node]!
      if (message.role !== 'assistant') continue
      const call = this.bySaying.get(sayingOf(message))
      if (call !== undefined) return call
      break
    }
    const head = this.headOf(prompt, output)
    return this.byHead.get(head) ?? this.summedUpBy(prompt, head)
  }

  /**
   * The end of a conversation with the same system message that nobody went on with, of which a new one holds what was
   * said. A sub-agent may be told the same, but there the one that asked it goes on.
   */
  private summedUpBy(prompt: number, head: number): number | undefined {
    const { nodes, calls } = this.trajectory
    const texts: string[] = []
    for (let node = prompt; node >= 0; node = nodes[node]!.parent)
      texts.push(textOf(nodes[node]!.message.content))
    for (const [other, at] of [...this.byHead].slice(-mostSummedUp).reverse()) {
      const { seat, parent } = nodes[other]!
      if (seat !== nodes[head]!.seat || parent !== nodes[head]!.parent || this.ends.get(other) !== at)
        continue
      const said = textOf(nodes[calls[at]!.output]!.message.content).trim()
      if (said.length >= shortestQuote && texts.some((text) => text.includes(said))) return at
    }
    return undefined
  }

  private headOf(prompt: number, output: number): number {
    return this.heads[prompt >= 0 ? prompt : output]!
  }
}

function sayingOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return JSON.stringify([textOf(message.content).trim(), ...calls.map(({ id, name }) => [id, name])])
}
