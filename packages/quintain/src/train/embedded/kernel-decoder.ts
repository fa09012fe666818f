import type { Places, Room } from './engine-memory.ts'
import type { Kernels } from './kernels.ts'
import type { Decoder, DecoderRows } from './sampling/decoder.ts'
import type { EmbeddedShape } from './shape.ts'
import type { SharedMemory } from './web-assembly.ts'

/** Decoding with the kernels of one thread. */
export class KernelDecoder implements Decoder {
  readonly vocabulary: number
  readonly context: number
  readonly slots: number
  readonly maxRows: number
  readonly rows: DecoderRows
  readonly logitStride: number
  readonly logSumExp: Float32Array
  private readonly kernels: Kernels
  private readonly logits: Float32Array
  private readonly shape: number
  private readonly places: Places['threads'][number]['decode']

  constructor(options: {
    kernels: Kernels
    memory: SharedMemory
    places: Places
    thread: number
    room: Room
    shape: EmbeddedShape
  }) {
    const { memory, places, thread, room, shape } = options
    const at = places.threads[thread]!.decode
    const ints = (from: number): Int32Array => new Int32Array(memory.buffer, from, room.rows)
    this.kernels = options.kernels
    this.shape = places.shape
    this.places = at
    this.vocabulary = shape.vocabulary
    this.logitStride = shape.vocabulary
    this.context = shape.context
    this.slots = room.slots
    this.maxRows = room.rows
    this.rows = {
      slots: ints(at.slots),
      positions: ints(at.positions),
      tokens: ints(at.tokens),
      wanted: ints(at.wanted),
    }
    this.logits = new Float32Array(memory.buffer, at.logits, room.rows * shape.vocabulary)
    this.logSumExp = new Float32Array(memory.buffer, at.logSumExp, room.rows)
  }

  decode(weights: number, count: number): Float32Array {
    const { slots, positions, tokens, wanted, work, logits, logSumExp, cache } = this.places
    const rows = this.kernels.decode(
      this.shape,
      weights,
      cache,
      count,
      slots,
      positions,
      tokens,
      wanted,
      work,
      logits,
      logSumExp,
    )
    return this.logits.subarray(0, rows * this.vocabulary)
  }

  copy(from: number, to: number, positions: number): void {
    this.kernels.copy_slot(this.shape, this.places.cache, from, to, positions)
  }
}
