import { createHash, randomUUID } from 'node:crypto'
import type { AssistantMessage, Message, ToolSpec } from '../../core/index.ts'
import type { Renderer, Termination } from '../renderer.ts'

/** The prompt of a reply, and the name under which a sampler may know what it begins with. */
export interface Prompt {
  ids: Int32Array
  session: string
}

/** What is said to a policy. */
export interface Asked {
  messages: readonly Message[]
  tools: readonly ToolSpec[] | undefined
}

interface Kept {
  /** What was said, by whom, and with which tools at hand. */
  said: string
  ids: Int32Array
  ended: Termination
  session: string
}

/** The field of a reply's message by which it is known when it comes back. */
export const replyIdField = 'reply_id'

/**
 * Remembers the tokens of conversations that clients send back as text, so that what was sampled stays as it was sampled: the
 * prompt of a conversation that goes on is what was said in it, and then its addition. A reply is known by its text where
 * that text can have no other tokens, or by the names of its calls; any other by a name of its own, for clients that send
 * it back. The least recently used are forgotten.
 */
export class Conversations {
  private readonly renderer: Renderer
  private readonly most: number
  private readonly forget: (session: string) => void
  /** The least recently used first; by what was said, or by the name of the reply. */
  private readonly kept = new Map<string, Kept>()
  /** How many of them each session has. */
  private readonly sessions = new Map<string, number>()
  private tokens = 0

  /** `most`: tokens that are kept of all together. `forget` is told of sessions that are over. */
  constructor(renderer: Renderer, most: number, forget: (session: string) => void) {
    this.renderer = renderer
    this.most = most
    this.forget = forget
  }

  /** Throws what the renderer throws for what it cannot write. */
  prompt({ messages, tools }: Asked): Prompt {
    const last = messages.findLastIndex(({ role }) => role === 'assistant')
    const known = last < 0 ? undefined : this.find(messages.slice(0, last + 1), tools)
    if (known === undefined) return { ids: this.renderer.render(messages, tools), session: randomUUID() }
    const addition = this.renderer.renderNext(messages.slice(last + 1), known.ended)
    return { ids: joined(known.ids, addition), session: known.session }
  }

  /** Whether a reply needs a name of its own, since what it says could have been said by other tokens. */
  needsName({ messages, tools }: Asked, prompt: Prompt, reply: Reply): boolean {
    if (reply.message.toolCalls !== undefined) return false
    const sampled = joined(prompt.ids, reply.ids, this.renderer.renderNext([], reply.ended))
    try {
      return !areEqual(sampled, this.renderer.render([...messages, reply.message], tools))
    } catch {
      // What cannot be written again was not written so.
      return true
    }
  }

  /** A reply was given; its message as it is sent. */
  keep({ messages, tools }: Asked, { session, ids }: Prompt, { message, ids: sampled, ended }: Reply): void {
    const said = digestOf([...messages, message], tools)
    const name = nameOf(message) ?? said
    this.drop(name)
    const whole = joined(ids, sampled)
    this.kept.set(name, { said, ids: whole, ended, session })
    this.tokens += whole.length
    this.sessions.set(session, (this.sessions.get(session) ?? 0) + 1)
    for (const oldest of this.kept.keys()) {
      if (this.tokens <= this.most || oldest === name) break
      this.drop(oldest)
    }
  }

  private find(messages: readonly Message[], tools: readonly ToolSpec[] | undefined): Kept | undefined {
    const said = digestOf(messages, tools)
    const name = nameOf(messages.at(-1)) ?? said
    const found = this.kept.get(name)
    // Of a reply that was sent back in another conversation, the tokens are others.
    if (found?.said !== said) return undefined
    this.kept.delete(name)
    this.kept.set(name, found)
    return found
  }

  private drop(name: string): void {
    const found = this.kept.get(name)
    if (found === undefined) return
    this.kept.delete(name)
    this.tokens -= found.ids.length
    const left = this.sessions.get(found.session)! - 1
    if (left > 0) this.sessions.set(found.session, left)
    else {
      this.sessions.delete(found.session)
      this.forget(found.session)
    }
  }
}

/** A reply as it is kept. */
export interface Reply {
  message: AssistantMessage
  ids: readonly number[]
  ended: Termination
}

function nameOf(message: Message | undefined): string | undefined {
  const name = message?.role === 'assistant' ? message.extra?.[replyIdField] : undefined
  return typeof name === 'string' ? name : undefined
}

function digestOf(messages: readonly Message[], tools: readonly ToolSpec[] | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([tools ?? [], messages]))
    .digest('base64')
}

function joined(...parts: readonly ArrayLike<number>[]): Int32Array {
  const whole = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function areEqual(one: Int32Array, other: Int32Array): boolean {
  return one.length === other.length && one.every((id, at) => id === other[at])
}
