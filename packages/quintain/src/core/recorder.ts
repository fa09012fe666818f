import { isDeepStrictEqual } from 'node:util'
import type { Seat } from './environment.ts'
import { type AssistantMessage, type Message, textOf } from './message.ts'
import type { TokenData, ToolSpec } from './model.ts'
import { RecordBudget } from './record-budget.ts'
import { RecordFull, type RecordRoom } from './record-room.ts'
import type { CallRecord, MessageNode } from './records.ts'
import { isSameMessage } from './same-message.ts'
import { TokenStore } from './token-store.ts'
import { weightOf } from './weight.ts'

/** The graph of a seat as plain data, for a recorder in another process. */
export interface RecordedGraph {
  nodes: MessageNode[]
  calls: CallRecord[]
  toolSets?: ToolSpec[][]
  /** All token arrays of the calls, as `tokens.bin` holds them. */
  tokens?: Uint8Array
}

/** What is recorded of a call beside its place in the graph. `tools`: what the model was told of, where that is not what its seat has. */
export interface CallFacts extends Omit<CallRecord, 'seat' | 'prompt' | 'output' | 'tokens' | 'tools'> {
  tools?: readonly ToolSpec[]
}

/**
 * Bytes that a message or a call takes beside what it says: here, once more where its seat is absorbed, and as a part of
 * a line.
 */
const entryBytes = 1024

/** What is recorded of a call beside its messages that a program may make as large as it likes. */
export interface CallBeside {
  tools?: readonly ToolSpec[] | undefined
  settings?: unknown
}

/**
 * Builds the message graph of an attempt: each message once, under the one it followed. A history that extends an
 * earlier one is the same branch, also where a program sent back what was sampled in another form (`isSameMessage`); an
 * edited or compacted one branches where it differs.
 */
export class Recorder {
  readonly nodes: MessageNode[] = []
  readonly calls: CallRecord[] = []
  /** Each set of tools that calls were given, once. */
  readonly toolSets: ToolSpec[][] = []
  /** Nodes by their slot: programs send whole histories at every call, which are looked up message by message. */
  private readonly slots = new Map<number, number[]>()
  private readonly leaves = new Map<Seat, number>()
  private readonly tokens = new TokenStore()
  private readonly room: RecordRoom | undefined
  /** The set of tools that was looked for last. */
  private looked: { tools: readonly ToolSpec[]; at: number } | undefined

  /** `room`: where what is held is counted; without one there is no end to it. */
  constructor({ room }: { room?: RecordRoom } = {}) {
    this.room = room
  }

  /** The last node of a seat's conversation; -1 before its first. */
  leaf(seat: Seat): number {
    return this.leaves.get(seat) ?? -1
  }

  /** The last message of a seat's conversation. */
  last(seat: Seat): Message | undefined {
    return this.nodes[this.leaf(seat)]?.message
  }

  /** Appends a message after the seat's last one. */
  append(
    seat: Seat,
    message: Message,
    options: { sampled?: boolean; reward?: number | undefined } = {},
  ): number {
    return this.add(seat, this.leaf(seat), message, options)
  }

  /**
   * Appends what a seat says in the world, or goes on in what was absorbed, where that is there already: what an agent
   * recorded of its conversation by itself.
   */
  say(seat: Seat, message: Message): number {
    const told = this.following([this.leaf(seat)], seat, message).find((node) => !this.nodes[node]!.sampled)
    if (told === undefined) return this.append(seat, message)
    this.leaves.set(seat, told)
    return told
  }

  /**
   * The node that a whole history ends in, adding what is new of it. It becomes the seat's leaf. `beside` is what the call
   * that is to come will have in its record. Throws `RecordFull`, having added nothing, where there is no room for it.
   */
  path(seat: Seat, messages: readonly Message[], beside: CallBeside = {}): number {
    // All nodes where the history so far may end: of equal samples of one prompt, what follows tells which was meant.
    let ends = [-1]
    let known = 0
    for (; known < messages.length; known++) {
      const next = this.following(ends, seat, messages[known]!)
      if (next.length === 0) break
      ends = next
    }
    let at = this.newest(ends)
    if (this.room?.take(this.weightOfNew(messages, known, beside)) === false) throw new RecordFull()
    for (; known < messages.length; known++) at = this.add(seat, at, messages[known]!, {})
    this.leaves.set(seat, at)
    return at
  }

  /** Adds a call whose prompt ends at a node; its output, if any, becomes the seat's leaf. */
  call(
    seat: Seat,
    prompt: number,
    output: AssistantMessage | undefined,
    { tools, ...facts }: CallFacts,
    tokens?: TokenData,
  ): void {
    const node = output === undefined ? -1 : this.add(seat, prompt, output, { sampled: true })
    const before = this.tokens.heldBytes
    const refs = tokens === undefined ? undefined : this.tokens.add(seat, this.calls.length, tokens)
    // What a model gave is kept, and leaves less room for what is asked next.
    if (this.room !== undefined && output !== undefined)
      this.room.add(entryBytes + weightOf(output) + this.tokens.heldBytes - before)
    this.calls.push({
      seat,
      prompt,
      output: node,
      ...facts,
      ...(tools === undefined ? {} : { tools: this.toolSet(tools) }),
      ...(refs === undefined ? {} : { tokens: refs }),
    })
  }

  /** Messages from the root to the seat's leaf. */
  messages(seat: Seat): Message[] {
    const found: Message[] = []
    for (let at = this.leaf(seat); at >= 0; at = this.nodes[at]!.parent) found.push(this.nodes[at]!.message)
    return found.reverse()
  }

  /** Rewards that came with the turns of a seat, in order. */
  turnRewards(seat: Seat): number[] {
    const found: number[] = []
    for (const node of this.nodes)
      if (node.seat === seat && node.reward !== undefined) found.push(node.reward)
    return found
  }

  /** Everything that was recorded, to be handed to `absorb` of another recorder. */
  graph(): RecordedGraph {
    const { nodes, calls, toolSets } = this
    const tokens = this.tokenChunk()
    return {
      nodes,
      calls,
      ...(toolSets.length === 0 ? {} : { toolSets }),
      ...(tokens === undefined ? {} : { tokens }),
    }
  }

  /**
   * Takes in what another recorder recorded. Messages that are here already, under the same parents, are not stored
   * again. The seats' leaves stay: what a model was asked does not change what was said in the world.
   */
  absorb(graph: RecordedGraph): void {
    const leaves = new Map(this.leaves)
    const places: number[] = []
    for (const { parent, seat, message, sampled, reward } of graph.nodes) {
      const under = parent < 0 ? -1 : places[parent]!
      const known = sampled ? [] : this.following([under], seat, message)
      places.push(known.length > 0 ? this.newest(known) : this.add(seat, under, message, { sampled, reward }))
    }
    const placeOf = (node: number) => (node < 0 ? -1 : places[node]!)
    const toolSets = graph.toolSets?.map((tools) => this.toolSet(tools))
    const moved = this.tokens.absorb(graph.tokens, this.calls.length)
    for (const call of graph.calls) {
      const { prompt, output, tools, tokens } = call
      this.calls.push({
        ...call,
        prompt: placeOf(prompt),
        output: placeOf(output),
        ...(tools === undefined ? {} : { tools: toolSets![tools]! }),
        ...(tokens === undefined ? {} : { tokens: moved(tokens) }),
      })
    }
    this.leaves.clear()
    for (const [seat, leaf] of leaves) this.leaves.set(seat, leaf)
  }

  /**
   * Cuts long texts where all that was recorded takes more than so many bytes, and says whether it had to. Nothing may be
   * added afterwards: a history that is sent again would not be known again.
   */
  cutTo(bytes: number): boolean {
    const { nodes, calls, toolSets } = this
    const budget = new RecordBudget(bytes)
    if (budget.holds([nodes, calls, toolSets])) return false
    for (const node of nodes) node.message = budget.take(node.message)
    for (const [at, tools] of toolSets.entries()) toolSets[at] = budget.take(tools)
    for (const [at, call] of calls.entries()) calls[at] = budget.take(call)
    return budget.cut
  }

  /** All token arrays as one chunk; undefined when no call had any. */
  tokenChunk(): Buffer | undefined {
    return this.tokens.chunk()
  }

  /** The nodes right after some others that hold this message. */
  private following(nodes: readonly number[], seat: Seat, message: Message): number[] {
    const found: number[] = []
    for (const node of nodes)
      for (const child of this.slots.get(slotOf(node, message)) ?? []) {
        const held = this.nodes[child]!
        if (held.parent === node && held.seat === seat && isSameMessage(held.message, message))
          found.push(child)
      }
    return found
  }

  /** Of nodes that say the same, the one that a model said last. */
  private newest(nodes: readonly number[]): number {
    return nodes.findLast((node) => this.nodes[node]?.sampled) ?? nodes.at(-1)!
  }

  /** Place of a set of tools among those of the attempt. */
  private toolSet(tools: readonly ToolSpec[]): number {
    const known = this.knownTools(tools)
    return known >= 0 ? known : this.toolSets.push([...tools]) - 1
  }

  /** The same; -1 where they are new. Those of a call are looked for when it is made and when it is answered. */
  private knownTools(tools: readonly ToolSpec[]): number {
    if (this.looked?.tools !== tools || this.looked.at < 0)
      this.looked = { tools, at: this.toolSets.findIndex((set) => isDeepStrictEqual(set, tools)) }
    return this.looked.at
  }

  /** Bytes of the messages of a history from a place on, and of what its call says beside them. */
  private weightOfNew(messages: readonly Message[], from: number, { tools, settings }: CallBeside): number {
    let bytes = entryBytes
    for (let at = from; at < messages.length; at++) bytes += entryBytes + weightOf(messages[at])
    if (tools !== undefined && this.knownTools(tools) < 0) bytes += weightOf(tools)
    return settings === undefined ? bytes : bytes + weightOf(settings)
  }

  private add(
    seat: Seat,
    parent: number,
    message: Message,
    options: { sampled?: boolean; reward?: number | undefined },
  ): number {
    // A harness that writes into a message it was given would rewrite what was said.
    Object.freeze(message)
    const node: MessageNode = { parent, seat, message, sampled: options.sampled ?? false }
    if (options.reward !== undefined) node.reward = options.reward
    const index = this.nodes.push(node) - 1
    const slot = slotOf(parent, message)
    const siblings = this.slots.get(slot)
    if (siblings === undefined) this.slots.set(slot, [index])
    else siblings.push(index)
    this.leaves.set(seat, index)
    return index
  }
}

const roles: readonly Message['role'][] = ['system', 'user', 'assistant', 'tool']

/** Characters of a text that its slot is made of. */
const slotChars = 8

/**
 * One number for what messages that are the same have in common: their parent, role and text, of which a few characters
 * say enough to leave out most others without a look at them, which lie somewhere in memory. It fits 32 bits.
 */
function slotOf(parent: number, { role, content }: Message): number {
  const text = typeof content === 'string' ? content : textOf(content)
  let slot = mixed(mixed(parent + 1, roles.indexOf(role)), text.length)
  const step = Math.max(1, Math.ceil(text.length / slotChars))
  for (let at = text.length - 1; at >= 0; at -= step) slot = mixed(slot, text.charCodeAt(at))
  return slot
}

/** A step of FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), on more than a byte at a time. */
function mixed(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193)
}
