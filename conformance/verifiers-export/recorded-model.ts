import { isDeepStrictEqual } from 'node:util'
import {
  conversationOf,
  foldRun,
  type Message,
  readTrajectory,
  readVerdict,
  textOf,
} from '../../packages/quintain/src/core/index.ts'
import { type RunOptions, startRun } from '../../packages/quintain/src/engine/index.ts'
import type { FakeBehaviour } from '../../packages/quintain/src/models/fake-server.ts'

/** What the engine gave an episode. */
export interface Graded {
  task: string
  reward: number
  success: boolean | null
  rewards: Record<string, number | null>
  metrics: Record<string, number | null>
}

/** Replies that were recorded, by the conversation before each. */
export type Replies = Map<string, object>

/** Plays the first tasks of a split in the engine; gives what each earned, and adds each reply to `replies`. */
export async function recordRun(options: RunOptions, replies: Replies): Promise<Graded[]> {
  const { dir } = await startRun(options)
  const graded: Graded[] = []
  for (const { order, chosen } of (await foldRun(dir)).states) {
    const { verdict } = chosen ?? {}
    if (chosen === undefined || verdict?.reward == null)
      throw new Error(`the engine gave ${order.id} no reward`)
    const trajectory = await readTrajectory(dir, chosen)
    const messages = conversationOf(trajectory, 'agent').map((at) => trajectory.nodes[at]!.message)
    for (const [at, message] of messages.entries())
      if (message.role === 'assistant') add(replies, before(messages.slice(0, at)), asReply(message))
    const parts = Object.entries((await readVerdict(dir, chosen))?.components ?? {})
    const of = (kind: string) =>
      Object.fromEntries(parts.flatMap(([name, part]) => (part.kind === kind ? [[name, part.value]] : [])))
    graded.push({
      task: order.task,
      reward: verdict.reward,
      success: verdict.success,
      rewards: of('reward'),
      metrics: of('metric'),
    })
  }
  return graded
}

/**
 * A model that says what was said at this point of the same conversation when it was recorded. A conversation that was not
 * recorded word for word is a status 400, which fails the rollout: so a rollout that comes to its end is known to have
 * shown its agent what the engine shows.
 */
export function replyFrom(replies: Replies, body: unknown): FakeBehaviour {
  const { messages } = body as { messages: WireMessage[] }
  const message = replies.get(wireBefore(messages))
  if (message !== undefined) return { kind: 'ok', message }
  const error = { message: `that conversation was not recorded: ${JSON.stringify(messages.at(-1))}` }
  return { kind: 'status', status: 400, body: { error } }
}

interface WireMessage {
  role: string
  content?: string | null | { type: string; text?: string }[]
  tool_calls?: { function: { name: string; arguments: string } }[] | null
}

/** A model knows the conversation and not the task, so a policy that knows more cannot be played again. */
function add(replies: Replies, said: string, reply: object): void {
  const known = replies.get(said)
  if (known !== undefined && !isDeepStrictEqual(known, reply))
    throw new Error(`two replies were recorded to the same conversation: ${said}`)
  replies.set(said, reply)
}

/** A conversation without what differs between two of the same: ids of calls. */
function before(messages: readonly Message[]): string {
  return JSON.stringify(
    messages.map((message) => {
      const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
      const made = calls.map((call) => [call.name, call.arguments])
      return [message.role, textOf(message.content), made]
    }),
  )
}

function wireBefore(messages: readonly WireMessage[]): string {
  return JSON.stringify(
    messages.map(({ role, content, tool_calls }) => {
      const text = Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : (content ?? '')
      return [role, text, (tool_calls ?? []).map(({ function: made }) => [made.name, made.arguments])]
    }),
  )
}

function asReply(message: Message): object {
  const { content, toolCalls = [] } = message as Message & { role: 'assistant' }
  const tool_calls = toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  return { content: textOf(content), ...(tool_calls.length === 0 ? {} : { tool_calls }) }
}
