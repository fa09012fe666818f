import { Barrier } from './barrier.ts'
import type { Job, StepNumbers, ThreadStart } from './jobs.ts'
import { type Kernels, openKernels } from './kernels.ts'
import { type PlacedTensor, tensorsOf } from './shape.ts'

/** Parameters are stepped in as many shards on any number of threads, so that the norm of the gradient is the same sum. */
const shardCount = 8

/** Squares of what is larger are no numbers in the second moments, which would never come down again. */
const largestNorm = 1e18

interface Shard {
  index: number
  from: number
  to: number
}

function shardsOf(parameters: number): Shard[] {
  const edge = (index: number): number =>
    index === shardCount ? parameters : Math.floor((parameters * index) / shardCount / 16) * 16
  return Array.from({ length: shardCount }, (_, index) => ({ index, from: edge(index), to: edge(index + 1) }))
}

/** Carries out the jobs of one thread. */
export class ThreadJobs {
  readonly kernels: Kernels
  private readonly start: ThreadStart
  private readonly tensors: readonly PlacedTensor[]
  private readonly barrier: Barrier
  /** Of all shards of the parameters. */
  private readonly squares: Float64Array
  private readonly gradients: Int32Array
  /** The parameters that this thread steps. */
  private readonly shards: readonly Shard[]

  constructor(start: ThreadStart) {
    const { memory, places, room, thread, shape } = start
    this.start = start
    this.kernels = openKernels(start.module, memory, places.threads[thread]!.stackTop)
    this.tensors = tensorsOf(shape)
    this.barrier = new Barrier(new Int32Array(memory.buffer, places.control.barrier, 2), room.threads)
    this.squares = new Float64Array(memory.buffer, places.control.squares, shardCount)
    this.gradients = new Int32Array(
      memory.buffer,
      places.control.gradients + thread * 4 * places.lanes.length,
      places.lanes.length,
    )
    const parameters = this.kernels.parameter_count(places.shape)
    this.shards = shardsOf(parameters).filter(({ index }) => index % room.threads === thread)
  }

  /** Gives the norm of the gradient after a step, else 0. */
  run(job: Job): number {
    const { kernels, start } = this
    const { places, thread } = start
    const own = places.threads[thread]!
    if (job.kind === 'step') return this.step(job)
    if (job.kind === 'pack') {
      this.barrier.meet()
      this.pack(job.packed)
      this.barrier.meet()
      return 0
    }
    const { sequences, place } = job.batch
    const at = own.batches[place]
    if (job.kind === 'forward') {
      kernels.forward(
        places.shape,
        job.packed,
        at.starts,
        sequences,
        at.tokens,
        at.targets,
        own.work,
        at.logprobs,
        at.entropies,
      )
      return 0
    }
    const gradient = places.lanes[job.lane]!
    if (job.fresh) {
      new Float32Array(start.memory.buffer, gradient, kernels.parameter_count(places.shape)).fill(0)
    }
    kernels.backward(
      places.shape,
      places.weights,
      at.starts,
      sequences,
      at.tokens,
      at.targets,
      own.work,
      at.slopes,
      gradient,
    )
    return 0
  }

  private step({ numbers, lanes, packed }: Extract<Job, { kind: 'step' }>): number {
    const { places } = this.start
    const pointers = lanes.map((lane) => places.lanes[lane]!)
    this.gradients.set(pointers)
    const at = this.gradients.byteOffset
    for (const { index, from, to } of this.shards) {
      this.squares[index] = this.kernels.sum_gradients(at, pointers.length, from, to)
    }
    this.barrier.meet()
    const sum = this.squares.reduce((all, square) => all + square, 0)
    const norm = Math.sqrt(sum)
    const clip = clipOf(norm, numbers.gradClipNorm)
    // All come to the same conclusion, since all have the same sum.
    const isUsable = norm * clip < largestNorm
    if (isUsable) {
      this.adamw(numbers, pointers[0]!, clip)
      this.barrier.meet()
      this.pack(packed)
    }
    this.barrier.meet()
    return isUsable ? norm : Number.NaN
  }

  private adamw(numbers: StepNumbers, gradient: number, clip: number): void {
    const { places } = this.start
    const { learningRate, beta1, beta2, eps, weightDecay, momentSteps } = numbers
    for (const { role, offset, length } of this.tensors) {
      for (const shard of this.shards) {
        const from = Math.max(offset, shard.from)
        const to = Math.min(offset + length, shard.to)
        if (from >= to) continue
        this.kernels.adamw(
          places.weights,
          places.m,
          places.v,
          gradient,
          from,
          to,
          learningRate,
          beta1,
          beta2,
          eps,
          role === 'gain' ? 0 : weightDecay,
          clip,
          1 / (1 - beta1 ** momentSteps),
          1 / (1 - beta2 ** momentSteps),
        )
      }
    }
  }

  private pack(packed: number): void {
    const { places, thread, room, shape } = this.start
    for (let part = thread; part <= shape.layers; part += room.threads) {
      this.kernels.pack_weights(places.shape, places.weights, packed, part)
    }
  }
}

function clipOf(norm: number, most: number): number {
  return most > 0 && norm > most ? most / norm : 1
}
