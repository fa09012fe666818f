import { canonicalJson, sha256 } from '../core/canonical.ts'
import { conversationOf } from '../core/conversation.ts'
import { type AssistantMessage, type Message, textOf } from '../core/message.ts'
import type { Fault, TrajectoryRecord } from '../core/records.ts'

/** A call of a model as it was recorded. */
export interface RecordedCall {
  /** What it was asked: `promptKey` of the messages. */
  prompt: string
  /** What it answered; absent for a call that failed, or whose program did not wait. */
  message?: AssistantMessage
  /** How it failed. */
  fault?: Fault
}

/** What is to be said again of a rollout. */
export interface RecordedRollout {
  /** What seat `agent` said, in order. */
  replies: AssistantMessage[]
  /** What its model was asked, in order. */
  calls: RecordedCall[]
}

/**
 * What was recorded of a rollout, to be said again: of an agent outside what it said in the world, since its model said
 * that and other things; of any other what its model said.
 */
export function rolloutOf(trajectory: TrajectoryRecord): RecordedRollout {
  const { nodes, calls } = trajectory
  const said = conversationOf(trajectory, 'agent').flatMap((at) => {
    const { message, sampled } = nodes[at]!
    return message.role === 'assistant' ? [{ message, sampled }] : []
  })
  const isOutside = said.length > 0 && said.every(({ sampled }) => !sampled)
  const sampled = nodes.flatMap(({ sampled, seat, message }) =>
    sampled && seat === 'agent' && message.role === 'assistant' ? [message] : [],
  )
  const keys = new PromptKeys(nodes)
  return {
    replies: isOutside ? said.map(({ message }) => message) : sampled,
    calls: calls
      .filter(({ seat }) => seat === 'agent')
      .map(({ prompt, output, fault }) => {
        const message = nodes[output]?.message
        return {
          prompt: keys.of(prompt),
          ...(message?.role === 'assistant' ? { message } : {}),
          ...(fault === undefined ? {} : { fault }),
        }
      }),
  }
}

/**
 * A prompt's name: the same however a program writes the same history. What it may leave out of what a model said
 * (reasoning), and how text is cut into parts and arguments are spaced, makes no other.
 */
export function promptKey(messages: readonly Message[]): string {
  return messages.reduce(keyAfter, '')
}

function keyAfter(before: string, message: Message): string {
  return sha256(`${before}\n${canonicalJson(plainOf(message))}`)
}

function plainOf(message: Message): unknown {
  const { role, content } = message
  const text = textOf(content)
  const images = typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length
  if (message.role === 'tool') return [role, text, images, message.toolCallId]
  if (message.role !== 'assistant') return [role, text, images]
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: given }) => [
    id,
    name,
    plainJson(given),
  ])
  return [role, text, images, calls]
}

/** Arguments that are JSON without what is between their signs. */
function plainJson(text: string): string {
  try {
    return canonicalJson(JSON.parse(text === '' ? '{}' : text))
  } catch {
    return text
  }
}

/** Keys of the prompts of a graph; each node is read once. */
class PromptKeys {
  private readonly nodes: TrajectoryRecord['nodes']
  private readonly known = new Map<number, string>()

  constructor(nodes: TrajectoryRecord['nodes']) {
    this.nodes = nodes
  }

  of(node: number): string {
    if (node < 0) return ''
    const way: number[] = []
    for (let at = node; at >= 0 && !this.known.has(at); at = this.nodes[at]!.parent) way.push(at)
    for (const at of way.reverse()) {
      const { parent, message } = this.nodes[at]!
      this.known.set(at, keyAfter(this.known.get(parent) ?? '', message))
    }
    return this.known.get(node)!
  }
}
