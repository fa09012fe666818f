import { type CallRecord, type Message, type TrajectoryRecord, textOf } from '../core/index.ts'
import { conversationHeads } from './conversation-heads.ts'

/** Which of the calls that are in rows a later one comes from. */
export class Lineage {
  private readonly trajectory: TrajectoryRecord
  private readonly heads: Int32Array
  private readonly byOutput = new Map<number, number>()
  /** The latest call by what it said, and by its conversation. */
  private readonly bySaying = new Map<string, number>()
  private readonly byHead = new Map<number, number>()

  constructor(trajectory: TrajectoryRecord) {
    this.trajectory = trajectory
    this.heads = conversationHeads(trajectory.nodes)
  }

  add(at: number): void {
    const { prompt, output } = this.trajectory.calls[at]!
    this.byOutput.set(output, at)
    this.bySaying.set(sayingOf(this.trajectory.nodes[output]!.message), at)
    this.byHead.set(this.headOf(prompt, output), at)
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
   * messages before were edited; else the latest of the conversation.
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
    return this.byHead.get(this.headOf(prompt, output))
  }

  private headOf(prompt: number, output: number): number {
    return this.heads[prompt >= 0 ? prompt : output]!
  }
}

function sayingOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return JSON.stringify([textOf(message.content).trim(), ...calls.map(({ id, name }) => [id, name])])
}
