import type { CallRecord } from '../core/index.ts'

/** Why the tokens of a call cannot be trained on. */
export type TokenProblem =
  | 'no_token_ids'
  | 'no_prompt_ids'
  | 'no_logprobs'
  | 'lengths_differ'
  | 'logprob_not_finite'
  | 'nothing_sampled'
  | 'tokens_damaged'

/** The tokens of a call as they were sampled. Arrays are shared; nobody writes into them. */
export interface CallTokens {
  /** What it was asked, then what it gave. */
  ids: Int32Array
  promptLength: number
  /** Of the output, one for each of its tokens; absent where the server gave none. */
  logprobs: Float32Array | undefined
  /** Why it is context at most. */
  problem: TokenProblem | undefined
}

/** A sequence that grows at its end, so that a conversation of many calls is held once. */
class Strand {
  private ids: Int32Array
  length = 0

  constructor(beginning: Int32Array) {
    this.ids = new Int32Array(Math.max(1024, 2 * beginning.length))
    this.append(beginning)
  }

  append(more: Int32Array): void {
    if (this.length + more.length > this.ids.length) {
      const larger = new Int32Array(2 * (this.length + more.length))
      larger.set(this.ids.subarray(0, this.length))
      this.ids = larger
    }
    this.ids.set(more, this.length)
    this.length += more.length
  }

  /** What is there so far; it stays as it is when more is appended. */
  soFar(): Int32Array {
    return this.ids.subarray(0, this.length)
  }
}

/**
 * The tokens of every call, put together again from the deltas of the record, or why there are none. `chunk` is the
 * attempt's part of `tokens.bin`.
 */
export function readCallTokens(
  calls: readonly CallRecord[],
  chunk: Uint8Array | undefined,
): (CallTokens | { problem: TokenProblem })[] {
  const words = wordsOf(chunk)
  const strands: Strand[] = []
  const found: (CallTokens | { problem: TokenProblem })[] = []
  for (const [at, { tokens }] of calls.entries()) {
    if (tokens?.output === undefined && tokens?.prompt === undefined) {
      found.push({ problem: 'no_token_ids' })
      continue
    }
    if (tokens.prompt === undefined) {
      found.push({ problem: 'no_prompt_ids' })
      continue
    }
    const { base, keep } = tokens.prompt
    const earlier = base === null ? undefined : found[base]
    const known = earlier !== undefined && 'ids' in earlier ? earlier.ids : new Int32Array()
    const more = slice(words, tokens.prompt.ids)
    const output = tokens.output === undefined ? new Int32Array() : slice(words, tokens.output)
    const raw = tokens.logprobs === undefined ? undefined : slice(words, tokens.logprobs)
    const badLogprobs = tokens.logprobs !== undefined && raw === undefined
    if (more === undefined || output === undefined || badLogprobs || !(keep >= 0 && keep <= known.length)) {
      found.push({ problem: 'tokens_damaged' })
      continue
    }
    const before = base === null ? undefined : strands[base]
    // A new one where something else goes on from there already.
    const strand = before?.length === keep && keep > 0 ? before : new Strand(known.subarray(0, keep))
    strand.append(more)
    const promptLength = strand.length
    strand.append(output)
    strands[at] = strand
    const logprobs = raw && new Float32Array(raw.buffer, raw.byteOffset, raw.length)
    const problem = tokens.output === undefined ? 'no_token_ids' : problemOf(output.length, logprobs)
    found.push({ ids: strand.soFar(), promptLength, logprobs, problem })
  }
  return found
}

function problemOf(outputs: number, logprobs: Float32Array | undefined): TokenProblem | undefined {
  if (outputs === 0) return 'nothing_sampled'
  if (logprobs === undefined || logprobs.length === 0) return 'no_logprobs'
  if (logprobs.length !== outputs) return 'lengths_differ'
  return logprobs.every(Number.isFinite) ? undefined : 'logprob_not_finite'
}

/** The chunk in words of four bytes; a copy where it does not begin at such a place in memory. */
function wordsOf(chunk: Uint8Array | undefined): Int32Array {
  if (chunk === undefined) return new Int32Array()
  const whole = chunk.byteOffset % 4 === 0 ? chunk : Uint8Array.from(chunk)
  return new Int32Array(whole.buffer, whole.byteOffset, Math.floor(whole.byteLength / 4))
}

/** Undefined for a range that is not within. */
function slice(words: Int32Array, [bytes, count]: readonly [number, number]): Int32Array | undefined {
  const from = bytes / 4
  const isWithin = Number.isInteger(from) && from >= 0 && count >= 0 && from + count <= words.length
  return isWithin ? words.subarray(from, from + count) : undefined
}
