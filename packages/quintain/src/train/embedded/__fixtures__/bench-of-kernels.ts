import type { Datum } from '../../engine.ts'
import { EngineMemory } from '../engine-memory.ts'
import { KernelDecoder } from '../kernel-decoder.ts'
import { type Kernels, kernelModule, openKernels } from '../kernels.ts'
import type { EmbeddedShape } from '../shape.ts'
import { ThreadBatches } from '../thread-batches.ts'

/** The kernels in this thread, with memory of their own: what a test holds against other arithmetic. */
export class KernelBench {
  readonly kernels: Kernels
  readonly memory: EngineMemory
  readonly decoder: KernelDecoder
  /** Where the packed weights lie. */
  readonly packed: number
  private readonly shape: EmbeddedShape
  private readonly batches: ThreadBatches

  constructor(shape: EmbeddedShape, weights: ArrayLike<number>) {
    const room = { threads: 1, tokens: 512, slots: 8, rows: 64 }
    this.shape = shape
    this.memory = new EngineMemory(shape, room)
    const { places, memory } = this.memory
    this.kernels = openKernels(kernelModule(), memory, places.threads[0]!.stackTop)
    this.batches = new ThreadBatches(this.memory, 0, room.tokens)
    this.decoder = new KernelDecoder({ kernels: this.kernels, memory, places, thread: 0, room, shape })
    this.packed = this.memory.take(this.memory.packed)
    this.memory.floats(places.weights, this.memory.parameters).set(weights)
    for (let part = 0; part <= shape.layers; part++) {
      this.kernels.pack_weights(places.shape, places.weights, this.packed, part)
    }
  }

  /** Log-probabilities and entropies of the targets; the gradient too where slopes (dLoss/dlogprob) are given. */
  run(
    data: readonly Pick<Datum, 'input' | 'target'>[],
    slopes?: readonly Float32Array[],
  ): { logprobs: Float32Array[]; entropies: Float32Array[]; gradient: Float32Array } {
    const { places } = this.memory
    const own = places.threads[0]!
    const at = own.batches[0]
    const batch = this.batches.write(0, data)
    const ids = [at.starts, data.length, at.tokens, at.targets, own.work] as const
    this.kernels.forward(places.shape, this.packed, ...ids, at.logprobs, at.entropies)
    const logprobs = this.batches.logprobs(batch)
    const entropies = this.batches.entropies(batch)
    const gradient = this.memory.floats(places.lanes[0]!, this.memory.parameters).fill(0)
    if (slopes !== undefined) {
      this.batches.writeSlopes(batch, slopes)
      this.kernels.backward(places.shape, places.weights, ...ids, at.slopes, places.lanes[0]!)
    }
    return { logprobs, entropies, gradient: Float32Array.from(gradient) }
  }

  /** Decodes rows; gives the logits and the log of the sum of exponentials of each wanted one. */
  decode(
    rows: readonly { slot: number; position: number; token: number; wanted?: boolean }[],
  ): { logits: number[]; logSumExp: number }[] {
    const { rows: places } = this.decoder
    for (const [at, { slot, position, token, wanted = true }] of rows.entries()) {
      places.slots[at] = slot
      places.positions[at] = position
      places.tokens[at] = token
      places.wanted[at] = wanted ? 1 : 0
    }
    const logits = this.decoder.decode(this.packed, rows.length)
    const { vocabulary } = this.shape
    return Array.from({ length: logits.length / vocabulary }, (_, at) => ({
      logits: [...logits.subarray(at * vocabulary, (at + 1) * vocabulary)],
      logSumExp: this.decoder.logSumExp[at]!,
    }))
  }
}
