import { QuintainError } from '../../core/errors.ts'
import { lanesOf } from './gradient-lanes.ts'
import { type Kernels, kernelModule, openKernels } from './kernels.ts'
import { type EmbeddedShape, parameterCount } from './shape.ts'
import { newSharedMemory, type SharedMemory } from './web-assembly.ts'

const pageBytes = 65_536
/** As kernels.wasm was linked: pointers stay below 2^31. */
const mostPages = 32_768
const stackBytes = 65_536
/** The memory begins with the shape that kernels read and the words by which threads meet; nothing lies at 0. */
const shapeAt = 1024
const controlAt = 2048
const firstFree = pageBytes

/** Data of a micro-batch in the memory of a thread: bytes from the beginning. */
export interface BatchPlaces {
  starts: number
  tokens: number
  targets: number
  logprobs: number
  entropies: number
  slopes: number
}

/** What a thread has for itself. */
export interface ThreadPlaces {
  stackTop: number
  work: number
  /** Two, so that the next micro-batch is written while one is computed. */
  batches: readonly [BatchPlaces, BatchPlaces]
  decode: {
    slots: number
    positions: number
    tokens: number
    wanted: number
    work: number
    logits: number
    logSumExp: number
    cache: number
  }
}

/** Where everything lies that does not come and go; sent to threads as it is. */
export interface Places {
  shape: number
  /** A word that wakes each thread, two of the barrier, sums of squares, and for each thread pointers of the gradients. */
  control: { wake: number; barrier: number; squares: number; gradients: number }
  weights: number
  m: number
  v: number
  /** Gradients, one for each lane. */
  lanes: readonly number[]
  threads: readonly ThreadPlaces[]
}

/** How much is computed and kept at once. */
export interface Room {
  threads: number
  /** Tokens of a micro-batch of one thread. */
  tokens: number
  /** Sequences whose keys and values a thread keeps. */
  slots: number
  /** Rows of one decode. */
  rows: number
}

/** The memory that all threads of a learner share, and what lies where. */
export class EngineMemory {
  readonly memory: SharedMemory
  readonly places: Places
  readonly parameters: number
  /** Numbers of a packed copy of the weights. */
  readonly packed: number
  private free = firstFree

  /** Throws `options_invalid` where a policy with this much room does not fit. */
  constructor(shape: EmbeddedShape, room: Room) {
    const { threads, tokens, slots, rows } = room
    this.memory = newSharedMemory({ initial: 2, maximum: mostPages })
    this.parameters = parameterCount(shape)
    const headWidth = shape.width / shape.heads
    const turns = shape.context * (headWidth / 2)
    const cosines = this.take(turns)
    const sines = this.take(turns)
    this.writeShape(shape, cosines, sines)
    const kernels = openKernels(kernelModule(), this.memory, firstFree)
    this.packed = kernels.packed_count(shapeAt)
    const weights = this.take(this.parameters)
    const m = this.take(this.parameters)
    const v = this.take(this.parameters)
    const sizes = sizesOf(kernels, { tokens, rows, slots })
    this.places = {
      shape: shapeAt,
      control: {
        wake: controlAt,
        barrier: controlAt + 1024,
        squares: controlAt + 2048,
        gradients: controlAt + 3072,
      },
      weights,
      m,
      v,
      lanes: Array.from({ length: lanesOf(this.parameters) }, () => this.take(this.parameters)),
      threads: Array.from({ length: threads }, () => this.takeThread(shape, room, sizes)),
    }
    if (kernels.parameter_count(shapeAt) !== this.parameters) {
      throw new QuintainError('internal', 'kernels.c and shape.ts disagree on where parameters lie')
    }
  }

  floats(at: number, length: number): Float32Array<ArrayBufferLike> {
    return new Float32Array(this.memory.buffer, at, length)
  }

  ints(at: number, length: number): Int32Array<ArrayBufferLike> {
    return new Int32Array(this.memory.buffer, at, length)
  }

  /** Room for numbers of four bytes, for as long as the memory lives; filled with zeros. Throws `options_invalid`. */
  take(length: number): number {
    const at = this.free
    this.free = Math.ceil((at + length * 4) / 64) * 64
    const missing = Math.ceil(this.free / pageBytes) - this.memory.buffer.byteLength / pageBytes
    if (missing > 0) this.grow(missing)
    return at
  }

  private grow(pages: number): void {
    try {
      this.memory.grow(pages)
    } catch (cause) {
      throw new QuintainError(
        'options_invalid',
        `The embedded engine needs ${Math.round((this.free / 2 ** 20) * 10) / 10} MiB, and has room for ${(mostPages * pageBytes) / 2 ** 20}. Take a smaller shape, fewer threads, or a lower \`microBatch\`.`,
        { cause },
      )
    }
  }

  private takeThread(
    shape: EmbeddedShape,
    { tokens, rows }: Room,
    sizes: ReturnType<typeof sizesOf>,
  ): ThreadPlaces {
    const batch = (): BatchPlaces => ({
      starts: this.take(tokens + 1),
      tokens: this.take(tokens),
      targets: this.take(tokens),
      logprobs: this.take(tokens),
      entropies: this.take(tokens),
      slopes: this.take(tokens),
    })
    return {
      stackTop: this.take(stackBytes / 4) + stackBytes,
      work: this.take(sizes.work),
      batches: [batch(), batch()],
      decode: {
        slots: this.take(rows),
        positions: this.take(rows),
        tokens: this.take(rows),
        wanted: this.take(rows),
        work: this.take(sizes.decodeWork),
        logits: this.take(rows * shape.vocabulary),
        logSumExp: this.take(rows),
        cache: this.take(sizes.cache),
      },
    }
  }

  /** The `Shape` of kernels.c, with the cosine and sine of each position and pair. */
  private writeShape(shape: EmbeddedShape, cosines: number, sines: number): void {
    const { layers, width, heads, feedForward, vocabulary, context } = shape
    this.ints(shapeAt, 8).set([layers, width, heads, feedForward, vocabulary, context, cosines, sines])
    const half = width / heads / 2
    const cosine = this.floats(cosines, context * half)
    const sine = this.floats(sines, context * half)
    for (let position = 0; position < context; position++) {
      for (let pair = 0; pair < half; pair++) {
        const angle = position * 10_000 ** (-pair / half)
        cosine[position * half + pair] = Math.cos(angle)
        sine[position * half + pair] = Math.sin(angle)
      }
    }
  }
}

function sizesOf(
  kernels: Kernels,
  { tokens, rows, slots }: Pick<Room, 'tokens' | 'rows' | 'slots'>,
): { work: number; decodeWork: number; cache: number } {
  return {
    work: kernels.work_count(shapeAt, tokens),
    decodeWork: kernels.decode_work_count(shapeAt, rows),
    cache: kernels.slot_count(shapeAt) * slots,
  }
}
