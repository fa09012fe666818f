import type { AssistantMessage, Message } from '../core/message.ts'
import type { ModelRequest, ToolSpec } from '../core/model.ts'
import { isSameMessage } from '../core/same-message.ts'
import type { Renderer, Termination } from './renderer.ts'

/** After a reply: how many messages and ids there were, and how the reply ended. */
interface Turn {
  messages: number
  ids: number
  ended: Termination
}

/** A conversation as it was said. */
interface Branch {
  /** By which the sampler knows it. */
  session: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  /** Prompt and output of the last reply, which begin with those of the replies before. */
  ids: Int32Array
  turns: readonly Turn[]
}

interface Held {
  branches: Branch[]
  /** Branches so far, those that are gone counted. */
  begun: number
  /** Calls that were made after so many replies. */
  calls: Map<number, number>
}

/** What a reply is sampled from. */
export interface HeldPrompt {
  prompt: Int32Array
  session: string
  /** Calls of the same seat after as many replies, before this one: 0 unless it is asked again. */
  asked: number
  /** The branch that it goes on from, and the replies that it has in common with that or another. */
  branch: Branch | undefined
  turns: readonly Turn[]
}

/** A program may hold several conversations in one seat, such as those of its sub-agents. */
const mostBranches = 8

/**
 * What conversations said, as ids. A request that goes on from a reply is prompted with the ids of that reply and what was
 * added; where its history was edited, with those of the last reply before the edit, or rendered whole. Bounded: what was
 * used longest ago goes, and is rendered again when it comes back.
 */
export class HeldConversations {
  private readonly renderer: Renderer
  private readonly most: number
  private readonly onGone: (session: string) => void
  private readonly held = new Map<string, Held>()

  /** Of `most` seats of attempts. `onGone` is told each session that is held no longer. */
  constructor(renderer: Renderer, most: number, onGone: (session: string) => void) {
    this.renderer = renderer
    this.most = most
    this.onGone = onGone
  }

  /** The prompt of a request of a seat. Throws `prompt_invalid` for what cannot be rendered. */
  promptOf(seat: string, { messages, tools = [] }: ModelRequest): HeldPrompt {
    const held = this.held.get(seat) ?? { branches: [], begun: 0, calls: new Map() }
    const { branch, turns } = mostCommon(held.branches, messages, tools)
    const turn = turns.at(-1)
    const prompt =
      branch === undefined || turn === undefined
        ? this.renderer.render(messages, tools)
        : joined(
            branch.ids.subarray(0, turn.ids),
            this.renderer.renderNext(messages.slice(turn.messages), turn.ended),
          )
    const replies = repliesIn(messages)
    const asked = held.calls.get(replies) ?? 0
    held.calls.set(replies, asked + 1)
    // The newest stands last.
    this.held.delete(seat)
    this.held.set(seat, held)
    if (this.held.size > this.most) this.drop(this.held.keys().next().value!)
    if (branch !== undefined && turns.length === branch.turns.length) {
      return { prompt, session: branch.session, asked, branch, turns }
    }
    return { prompt, session: this.newSession(seat, held), asked, branch: undefined, turns }
  }

  /** Keeps a reply to a request. */
  keep(
    seat: string,
    { prompt, session, branch, turns }: HeldPrompt,
    { request, output, message }: { request: ModelRequest; output: Int32Array; message: AssistantMessage },
  ): void {
    const held = this.held.get(seat)
    if (held === undefined) {
      this.onGone(session)
      return
    }
    const turn: Turn = {
      messages: request.messages.length + 1,
      ids: prompt.length + output.length,
      ended: this.renderer.stop.includes(output.at(-1) ?? -1) ? 'stop' : 'length',
    }
    const at = branch === undefined ? -1 : held.branches.indexOf(branch)
    const went = {
      // One that was gone on from twice at once has become two.
      session: branch !== undefined && at === -1 ? this.newSession(seat, held) : session,
      messages: [...request.messages, message],
      tools: request.tools ?? [],
      ids: joined(prompt, output),
      turns: [...turns, turn],
    }
    if (at !== -1) held.branches.splice(at, 1)
    held.branches.push(went)
    if (held.branches.length > mostBranches) this.onGone(held.branches.shift()!.session)
  }

  clear(): void {
    for (const seat of this.held.keys()) this.drop(seat)
  }

  private newSession(seat: string, held: Held): string {
    return `${seat}/${held.begun++}`
  }

  private drop(seat: string): void {
    for (const { session } of this.held.get(seat)?.branches ?? []) this.onGone(session)
    this.held.delete(seat)
  }
}

export function repliesIn(messages: readonly Message[]): number {
  let replies = 0
  for (const { role } of messages) if (role === 'assistant') replies++
  return replies
}

/** The branch whose replies the history of a request has most of as they were said, and those replies. */
function mostCommon(
  branches: readonly Branch[],
  sent: readonly Message[],
  tools: readonly ToolSpec[],
): { branch: Branch | undefined; turns: readonly Turn[] } {
  let most: { branch: Branch | undefined; turns: readonly Turn[] } = { branch: undefined, turns: [] }
  for (const branch of branches.toReversed()) {
    if (!areSameTools(branch.tools, tools)) continue
    const same = sameMessages(branch.messages, sent)
    const turns = branch.turns.filter(({ messages }) => messages <= same)
    if (turns.length > most.turns.length) most = { branch, turns }
  }
  return most
}

function sameMessages(held: readonly Message[], sent: readonly Message[]): number {
  let same = 0
  while (same < sent.length && same < held.length && isSameMessage(held[same]!, sent[same]!)) same++
  return same
}

function areSameTools(one: readonly ToolSpec[], other: readonly ToolSpec[]): boolean {
  if (one === other || (one.length === 0 && other.length === 0)) return true
  return one.length === other.length && JSON.stringify(one) === JSON.stringify(other)
}

function joined(one: Int32Array, other: Int32Array): Int32Array {
  const both = new Int32Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
