import type { Seat } from './environment.ts'
import type { TokenData } from './model.ts'
import type { TokenRefs } from './records.ts'

/** What a later prompt may begin with: the prompt of a call and what it gave. */
interface Said {
  seat: Seat
  call: number
  prompt: Int32Array
  output: Int32Array
}

/**
 * Token arrays of an attempt's calls, as `tokens.bin` holds them. A prompt is stored as what it adds to the earlier call
 * that it shares most with, so a conversation that only grows is stored once.
 */
export class TokenStore {
  private readonly chunks: Uint8Array[] = []
  private bytes = 0
  /** Without those that a later one begins with: whatever begins like them begins like that one. */
  private said: Said[] = []
  private saidBytes = 0

  /** Bytes that are held in memory: those that are stored, and the prompts that later ones are held against. */
  get heldBytes(): number {
    return this.bytes + this.saidBytes
  }

  /** Stores the arrays of a call, by its place among the calls of the attempt. */
  add(seat: Seat, call: number, { promptIds, outputIds, logprobs }: TokenData): TokenRefs {
    const refs: TokenRefs = {}
    if (promptIds !== undefined) {
      const { base, keep } = this.longestPrefix(seat, promptIds)
      // A copy, since a view would hold on to the whole prompt of every call.
      refs.prompt = { base: base?.call ?? null, keep, ids: this.store(promptIds.slice(keep)) }
      if (base !== undefined && keep === lengthOf(base)) {
        this.said = this.said.filter((one) => one !== base)
        this.saidBytes -= base.prompt.byteLength
      }
      this.saidBytes += promptIds.byteLength
      this.said.push({ seat, call, prompt: promptIds, output: outputIds ?? new Int32Array() })
    }
    if (outputIds !== undefined) refs.output = this.store(outputIds)
    if (logprobs !== undefined) refs.logprobs = this.store(logprobs)
    return refs
  }

  /** Takes in the chunk of another store, and gives what refs into it have become. */
  absorb(chunk: Uint8Array | undefined, firstCall: number): (refs: TokenRefs) => TokenRefs {
    const shift = this.bytes
    if (chunk !== undefined) {
      this.chunks.push(chunk)
      this.bytes += chunk.byteLength
    }
    const moved = ([at, count]: [number, number]): [number, number] => [at + shift, count]
    return ({ prompt, output, logprobs }) => ({
      ...(prompt && {
        prompt: {
          base: prompt.base === null ? null : prompt.base + firstCall,
          keep: prompt.keep,
          ids: moved(prompt.ids),
        },
      }),
      ...(output && { output: moved(output) }),
      ...(logprobs && { logprobs: moved(logprobs) }),
    })
  }

  /** All arrays as one chunk; undefined when no call had any. */
  chunk(): Buffer | undefined {
    return this.bytes === 0 ? undefined : Buffer.concat(this.chunks, this.bytes)
  }

  /** The earlier call of the seat whose prompt and output share the longest beginning with `prompt`. */
  private longestPrefix(seat: Seat, prompt: Int32Array): { base: Said | undefined; keep: number } {
    let best: { base: Said | undefined; keep: number } = { base: undefined, keep: 0 }
    // The newest first: in a conversation that only grows it is the best, and the others are too short to be.
    for (let at = this.said.length - 1; at >= 0 && best.keep < prompt.length; at--) {
      const earlier = this.said[at]!
      if (earlier.seat !== seat || lengthOf(earlier) <= best.keep) continue
      const keep = commonLength(prompt, earlier)
      if (keep > best.keep) best = { base: earlier, keep }
    }
    return best
  }

  private store(array: Int32Array | Float32Array): [number, number] {
    const at = this.bytes
    this.chunks.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    this.bytes += array.byteLength
    return [at, array.length]
  }
}

function lengthOf({ prompt, output }: Said): number {
  return prompt.length + output.length
}

function commonLength(ids: Int32Array, { prompt, output }: Said): number {
  let at = 0
  while (at < ids.length && at < prompt.length && ids[at] === prompt[at]) at++
  if (at < prompt.length) return at
  while (at < ids.length && at - prompt.length < output.length && ids[at] === output[at - prompt.length]) at++
  return at
}
