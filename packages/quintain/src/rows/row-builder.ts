import type { CallRecord } from '../core/index.ts'
import type { CallTokens } from './call-tokens.ts'
import type { Span, SpanSource, TokenRow } from './training-row.ts'

/** A span with what stands in it. */
interface Piece {
  source: SpanSource
  ids: Int32Array
  /** One for each id of what was sampled. */
  logprobs?: Float32Array
  call?: number
  version?: string
}

/** What a row is made of: everything about it that follows from its spans. */
export type RowArrays = Pick<TokenRow, 'ids' | 'mask' | 'logprobs' | 'spans'>

/** A row while its calls are put into it. */
export class RowBuilder {
  private readonly pieces: Piece[] = []
  readonly calls: number[] = []
  length = 0
  cut = false

  /** The last call of the row. */
  get end(): number {
    return this.calls.at(-1)!
  }

  /** The call of the row that went on from another of it. */
  callAfter(call: number): number | undefined {
    return this.calls[this.calls.indexOf(call) + 1]
  }

  /** Adds a call whose prompt begins with all that is there. */
  add(at: number, { policySpans }: Pick<CallRecord, 'policySpans'>, tokens: CallTokens): void {
    const { ids, promptLength } = tokens
    const source = this.calls.length === 0 ? 'prompt' : 'environment'
    this.push({ source, ids: ids.subarray(this.length, promptLength) })
    const output = ids.subarray(promptLength)
    const logprobs = tokens.logprobs!
    for (const { start, end, version } of versionsOf(policySpans, output.length)) {
      this.push({
        source: 'sampled',
        ids: output.subarray(start, end),
        logprobs: logprobs.subarray(start, end),
        call: at,
        ...(version === undefined ? {} : { version }),
      })
    }
    this.calls.push(at)
  }

  /** The call that sampled the token at a place, where it was sampled in this row. */
  samplerOf(place: number): number | undefined {
    let start = 0
    for (const { ids, call } of this.pieces) {
      if (place < start + ids.length) return call
      start += ids.length
    }
    return undefined
  }

  /** Cuts off what is beyond a length: ids, mask and log-probabilities alike. */
  cutTo(most: number): void {
    if (this.length <= most) return
    let start = 0
    for (const [at, piece] of this.pieces.entries()) {
      const left = Math.max(0, most - start)
      start += piece.ids.length
      if (left >= piece.ids.length) continue
      this.pieces[at] = {
        ...piece,
        ids: piece.ids.subarray(0, left),
        ...(piece.logprobs && { logprobs: piece.logprobs.subarray(0, left) }),
      }
    }
    this.length = most
    this.cut = true
  }

  /** Tokens that would be trained on. */
  get sampled(): number {
    return this.pieces.reduce((sum, { source, ids }) => sum + (source === 'sampled' ? ids.length : 0), 0)
  }

  arrays(): RowArrays {
    const ids = new Int32Array(this.length)
    const mask = new Uint8Array(this.length)
    const logprobs = new Float32Array(this.length)
    const spans: Span[] = []
    let start = 0
    for (const { ids: own, logprobs: given, source, call, version } of this.pieces) {
      if (own.length === 0) continue
      const end = start + own.length
      ids.set(own, start)
      if (given !== undefined) {
        mask.fill(1, start, end)
        logprobs.set(given, start)
      }
      spans.push({
        start,
        end,
        source,
        ...(call === undefined ? {} : { call }),
        ...(version === undefined ? {} : { version }),
      })
      start = end
    }
    return { ids, mask, logprobs, spans }
  }

  private push(piece: Piece): void {
    if (piece.ids.length === 0) return
    this.pieces.push(piece)
    this.length += piece.ids.length
  }
}

/** The stretches of an output by the weights that sampled them, which may have changed on the way. What no span names has none. */
function versionsOf(
  spans: CallRecord['policySpans'],
  length: number,
): { start: number; end: number; version?: string }[] {
  const found: { start: number; end: number; version?: string }[] = []
  let at = 0
  for (const { start, end, version } of (spans ?? []).toSorted((a, b) => a.start - b.start)) {
    const from = Math.min(Math.max(at, start), length)
    const to = Math.min(Math.max(from, end), length)
    if (from > at) found.push({ start: at, end: from })
    if (to > from) found.push({ start: from, end: to, version })
    at = Math.max(at, to)
  }
  if (at < length) found.push({ start: at, end: length })
  return found
}
