import type { Seat } from './environment.ts'
import type { AssistantMessage, Message } from './message.ts'
import type { TokenData } from './model.ts'
import type { CallRecord, MessageNode, TokenRefs } from './records.ts'

/** The graph of a seat as plain data, for a recorder in another process. */
export interface RecordedGraph {
  nodes: MessageNode[]
  calls: CallRecord[]
  /** All token arrays of the calls, as `tokens.bin` holds them. */
  tokens?: Uint8Array
}

/**
 * Builds the message graph of an attempt: each message once, under the one it followed. A history that extends an
 * earlier one is the same branch; an edited or compacted one branches where it differs.
 */
export class Recorder {
  readonly nodes: MessageNode[] = []
  readonly calls: CallRecord[] = []
  private readonly children = new Map<number, number[]>()
  private readonly leaves = new Map<Seat, number>()
  private readonly chunks: Uint8Array[] = []
  private chunkBytes = 0
  private readonly ids: { prompt: Int32Array; output: Int32Array | undefined; seat: Seat; call: number }[] =
    []

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

  /** The node that a whole history ends in, adding what is new of it. It becomes the seat's leaf. */
  path(seat: Seat, messages: readonly Message[]): number {
    let at = -1
    for (const message of messages) {
      at = this.child(at, seat, message) ?? this.add(seat, at, message, {})
    }
    this.leaves.set(seat, at)
    return at
  }

  /** Adds a call whose prompt is the seat's leaf; its output, if any, becomes the leaf. */
  call(
    seat: Seat,
    prompt: number,
    output: AssistantMessage | undefined,
    call: Omit<CallRecord, 'seat' | 'prompt' | 'output' | 'tokens'>,
    tokens?: TokenData,
  ): void {
    const node = output === undefined ? -1 : this.add(seat, prompt, output, { sampled: true })
    const refs = tokens === undefined ? undefined : this.tokens(seat, tokens)
    this.calls.push({ seat, prompt, output: node, ...call, ...(refs === undefined ? {} : { tokens: refs }) })
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
    const tokens = this.tokenChunk()
    return { nodes: this.nodes, calls: this.calls, ...(tokens === undefined ? {} : { tokens }) }
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
      const known = sampled ? undefined : this.child(under, seat, message)
      places.push(known ?? this.add(seat, under, message, { sampled, reward }))
    }
    const firstCall = this.calls.length
    const shift = this.chunkBytes
    if (graph.tokens !== undefined) {
      this.chunks.push(graph.tokens)
      this.chunkBytes += graph.tokens.byteLength
    }
    const moved = ([at, count]: [number, number]): [number, number] => [at + shift, count]
    for (const call of graph.calls) {
      const { prompt, output, tokens } = call
      this.calls.push({
        ...call,
        prompt: prompt < 0 ? -1 : places[prompt]!,
        output: output < 0 ? -1 : places[output]!,
        ...(tokens === undefined
          ? {}
          : {
              tokens: {
                ...(tokens.prompt === undefined
                  ? {}
                  : {
                      prompt: {
                        base: tokens.prompt.base === null ? null : tokens.prompt.base + firstCall,
                        keep: tokens.prompt.keep,
                        ids: moved(tokens.prompt.ids),
                      },
                    }),
                ...(tokens.output === undefined ? {} : { output: moved(tokens.output) }),
                ...(tokens.logprobs === undefined ? {} : { logprobs: moved(tokens.logprobs) }),
              },
            }),
      })
    }
    this.leaves.clear()
    for (const [seat, leaf] of leaves) this.leaves.set(seat, leaf)
  }

  /** All token arrays as one chunk; undefined when no call had any. */
  tokenChunk(): Buffer | undefined {
    return this.chunkBytes === 0 ? undefined : Buffer.concat(this.chunks, this.chunkBytes)
  }

  /** The node that says the same under the same parent. */
  private child(parent: number, seat: Seat, message: Message): number | undefined {
    return this.children.get(parent)?.find((child) => {
      const node = this.nodes[child]!
      return node.seat === seat && sameMessage(node.message, message)
    })
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
    const siblings = this.children.get(parent)
    if (siblings === undefined) this.children.set(parent, [index])
    else siblings.push(index)
    this.leaves.set(seat, index)
    return index
  }

  private tokens(seat: Seat, data: TokenData): TokenRefs {
    const refs: TokenRefs = {}
    if (data.promptIds !== undefined) {
      const { base, keep } = this.longestPrefix(seat, data.promptIds)
      refs.prompt = { base, keep, ids: this.store(data.promptIds.subarray(keep)) }
      this.ids.push({ prompt: data.promptIds, output: data.outputIds, seat, call: this.calls.length })
    }
    if (data.outputIds !== undefined) refs.output = this.store(data.outputIds)
    if (data.logprobs !== undefined) refs.logprobs = this.store(data.logprobs)
    return refs
  }

  /** The earlier call of the seat whose prompt and output share the longest beginning with `prompt`. */
  private longestPrefix(seat: Seat, prompt: Int32Array): { base: number | null; keep: number } {
    let best: { base: number | null; keep: number } = { base: null, keep: 0 }
    // The newest first: in a conversation that only grows it is the best, and the others are too short to be.
    for (let at = this.ids.length - 1; at >= 0; at--) {
      const earlier = this.ids[at]!
      const most = earlier.prompt.length + (earlier.output?.length ?? 0)
      if (earlier.seat !== seat || most <= best.keep) continue
      const keep = commonLength(prompt, earlier.prompt, earlier.output)
      if (keep > best.keep) best = { base: earlier.call, keep }
    }
    return best
  }

  private store(array: Int32Array | Float32Array): [number, number] {
    const at = this.chunkBytes
    this.chunks.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    this.chunkBytes += array.byteLength
    return [at, array.length]
  }
}

function commonLength(ids: Int32Array, prompt: Int32Array, output: Int32Array | undefined): number {
  let at = 0
  while (at < ids.length && at < prompt.length && ids[at] === prompt[at]) at++
  if (at < prompt.length || output === undefined) return at
  while (at < ids.length && at - prompt.length < output.length && ids[at] === output[at - prompt.length]) at++
  return at
}

function sameMessage(a: Message, b: Message): boolean {
  if (a === b) return true
  if (a.role !== b.role) return false
  if (typeof a.content === 'string' && typeof b.content === 'string' && a.content !== b.content) return false
  return JSON.stringify(a) === JSON.stringify(b)
}
