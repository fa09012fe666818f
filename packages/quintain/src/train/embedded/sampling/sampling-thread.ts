import { chooseToken } from './choose-token.ts'
import type { Decoder } from './decoder.ts'
import {
  PackedReader,
  type PackedRequest,
  PackedWriter,
  readRequest,
  saidKind,
  workKind,
} from './packed-work.ts'
import { drawAt } from './seeded-draw.ts'
import { type Lender, type Slot, SlotTable } from './slot-table.ts'

/** A sequence that is being sampled. */
interface Sequence {
  request: PackedRequest
  slot: Slot
  /** Where what it begins with is computed too; it waits for that. */
  lender: Lender | undefined
  /** Tokens so far, those of the prompt counted. */
  length: number
  /** At which it ends for its length. */
  end: number
  logprobs: number[]
  isOver: boolean
}

/**
 * Samples on one thread: the sequences in flight go on together, a decode for all of them, and as soon as one ends the next
 * takes its place (continuous batching, Yu et al., Orca, OSDI 2022). Prompts are computed among the tokens of the others, and
 * what several begin with is computed once.
 */
export class SamplingThread {
  private readonly decoder: Decoder
  private readonly send: (said: Float64Array<ArrayBuffer>) => void
  private readonly slots: SlotTable
  private readonly most: number
  private readonly said = new PackedWriter()
  private waiting: PackedRequest[] = []
  private active: Sequence[] = []

  /** `send` brings what is said to `SamplingDispatch.receive`; the array may be transferred. */
  constructor(decoder: Decoder, send: (said: Float64Array<ArrayBuffer>) => void) {
    this.decoder = decoder
    this.send = send
    this.slots = new SlotTable(decoder.slots, decoder.context)
    this.most = Math.min(decoder.slots, decoder.maxRows)
  }

  /** Whether `step` has something to do. */
  get busy(): boolean {
    return this.active.length > 0 || this.waiting.length > 0
  }

  /** Takes in work of the main thread. */
  receive(work: Float64Array): void {
    const reader = new PackedReader(work)
    while (!reader.done) {
      const kind = reader.next()
      if (kind === workKind.sample) this.waiting.push(readRequest(reader))
      else if (kind === workKind.cancel) this.cancel(reader.next())
      else if (kind === workKind.forget) this.slots.forget(reader.next())
      else if (kind === workKind.fence) this.said.put(saidKind.fence, reader.next())
    }
    this.flush()
  }

  /** A token, or some of its prompt, for each sequence in flight; those that wait are let in before. */
  step(): void {
    this.admit()
    const keys = new Set(this.active.map(({ request }) => request.key))
    for (const key of keys) this.advance(this.active.filter(({ request }) => request.key === key))
    this.active = this.active.filter(({ isOver }) => !isOver)
    this.flush()
  }

  private admit(): void {
    let admitted = 0
    for (const request of this.waiting) {
      const slot = this.active.length < this.most ? this.slots.take(request.prompt, request) : undefined
      if (slot === undefined) break
      admitted++
      const length = request.prompt.length
      const end = Math.min(length + request.maxTokens, this.decoder.context)
      const lender = this.slots.lenderTo(slot)
      const sequence = { request, slot, lender, length, end, logprobs: [], isOver: false }
      // At once where it can be: what is kept may be gone after the next was let in.
      this.isReady(sequence)
      this.active.push(sequence)
    }
    if (admitted > 0) this.waiting = this.waiting.slice(admitted)
  }

  /** Sequences that are sampled with the same weights. */
  private advance(sequences: readonly Sequence[]): void {
    const going = sequences.filter((sequence) => this.isReady(sequence))
    const { rows, maxRows, logitStride, vocabulary } = this.decoder
    const chosen: Sequence[] = []
    let count = 0
    going.forEach((sequence, at) => {
      const { slot, length } = sequence
      // Each of those that come after moves on by one row at least.
      const room = maxRows - count - (going.length - at - 1)
      const to = Math.min(length, slot.filled + room)
      for (let position = slot.filled; position < to; position++, count++) {
        rows.slots[count] = slot.index
        rows.positions[count] = position
        rows.tokens[count] = slot.tokens[position]!
        rows.wanted[count] = position === length - 1 ? 1 : 0
      }
      slot.filled = to
      if (to === length) chosen.push(sequence)
    })
    const logits = this.decoder.decode(sequences[0]!.request.offset, count)
    chosen.forEach((sequence, at) => {
      const from = at * logitStride
      this.extend(sequence, logits.subarray(from, from + vocabulary), this.decoder.logSumExp[at]!)
    })
  }

  /** Copies what is computed elsewhere; false while that is still being computed. */
  private isReady(sequence: Sequence): boolean {
    const { lender, slot } = sequence
    if (lender === undefined) return true
    const isSame = lender.slot.turn === lender.turn
    if (isSame && lender.slot.filled >= lender.positions) {
      this.decoder.copy(lender.slot.index, slot.index, lender.positions)
      slot.filled = lender.positions
    } else if (isSame && lender.slot.isTaken) return false
    sequence.lender = undefined
    return true
  }

  private extend(sequence: Sequence, logits: Float32Array, logSumExp: number): void {
    const { request, slot, length } = sequence
    const token = chooseToken(logits, request, drawAt(request.seed, length))
    const logprob = token === -1 ? Number.NaN : Math.fround(logits[token]! - logSumExp)
    if (Number.isNaN(logprob)) {
      this.said.put(saidKind.notFinite, request.id)
      this.end(sequence)
      return
    }
    slot.tokens[length] = token
    sequence.length++
    slot.known = sequence.length
    sequence.logprobs.push(logprob)
    if (request.streams) this.said.put(saidKind.tokens, request.id, token, logprob)
    const isStopped = includes(request.stop, token)
    if (!isStopped && sequence.length < sequence.end) return
    this.said.put(saidKind.finished, request.id, isStopped ? 1 : 0)
    this.said.putAll(slot.tokens.subarray(request.prompt.length, sequence.length))
    this.said.putAll(sequence.logprobs)
    this.end(sequence)
  }

  private end(sequence: Sequence): void {
    sequence.isOver = true
    this.slots.giveBack(sequence.slot)
  }

  private cancel(id: number): void {
    this.waiting = this.waiting.filter((request) => request.id !== id)
    const sequence = this.active.find(({ request }) => request.id === id)
    if (sequence === undefined) return
    this.end(sequence)
    this.active = this.active.filter(({ isOver }) => !isOver)
  }

  private flush(): void {
    if (!this.said.empty) this.send(this.said.take())
  }
}

function includes(ids: ArrayLike<number>, id: number): boolean {
  for (let at = 0; at < ids.length; at++) if (ids[at] === id) return true
  return false
}
