import type { Datum } from '../engine.ts'
import type { EngineMemory } from './engine-memory.ts'
import type { BatchRef } from './jobs.ts'

interface Views {
  starts: Int32Array
  tokens: Int32Array
  targets: Int32Array
  logprobs: Float32Array
  entropies: Float32Array
  slopes: Float32Array
}

/** Micro-batches in the memory of one thread: written before a job, read after it. */
export class ThreadBatches {
  private readonly places: readonly Views[]

  constructor(memory: EngineMemory, thread: number, tokens: number) {
    this.places = memory.places.threads[thread]!.batches.map((at) => ({
      starts: memory.ints(at.starts, tokens + 1),
      tokens: memory.ints(at.tokens, tokens),
      targets: memory.ints(at.targets, tokens),
      logprobs: memory.floats(at.logprobs, tokens),
      entropies: memory.floats(at.entropies, tokens),
      slopes: memory.floats(at.slopes, tokens),
    }))
  }

  /** Sequences one after the other. */
  write(place: 0 | 1, data: readonly Pick<Datum, 'input' | 'target'>[]): BatchRef {
    const { starts, tokens, targets } = this.places[place]!
    let at = 0
    for (const [index, { input, target }] of data.entries()) {
      starts[index] = at
      tokens.set(input, at)
      targets.set(target, at)
      at += input.length
    }
    starts[data.length] = at
    return { place, sequences: data.length }
  }

  /** dLoss/dlogprob of each target. */
  writeSlopes({ place }: BatchRef, slopes: readonly Float32Array[]): void {
    let at = 0
    for (const own of slopes) {
      this.places[place]!.slopes.set(own, at)
      at += own.length
    }
  }

  logprobs(batch: BatchRef): Float32Array[] {
    return this.read(batch, 'logprobs')
  }

  entropies(batch: BatchRef): Float32Array[] {
    return this.read(batch, 'entropies')
  }

  private read({ place, sequences }: BatchRef, what: 'logprobs' | 'entropies'): Float32Array[] {
    const views = this.places[place]!
    return Array.from({ length: sequences }, (_, index) =>
      Float32Array.from(views[what].subarray(views.starts[index]!, views.starts[index + 1]!)),
    )
  }
}
