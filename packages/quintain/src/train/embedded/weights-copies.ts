import { QuintainError } from '../../core/errors.ts'
import type { EngineMemory } from './engine-memory.ts'
import type { WeightsCopy } from './sampling/decoder.ts'

/** A packed copy of the weights, which the learner and samplers hold together until none of them does. */
export interface HeldCopy {
  readonly offset: number
  readonly key: number
  readonly version: number
  holders: number
}

let lastKey = 0

/** Places in memory for packed weights: one of the learner, and a bounded number that only samplers hold. */
export class WeightsCopies {
  private readonly memory: EngineMemory
  private readonly most: number
  private readonly free: number[] = []
  private taken = 0

  /** `most`: versions that samplers may hold at once beside the learner's. */
  constructor(memory: EngineMemory, most: number) {
    this.memory = memory
    this.most = most
  }

  /** A place for weights of this version, held once. Throws `samplers_exhausted`. */
  take(version: number): HeldCopy {
    const offset = this.free.pop() ?? this.more()
    return { offset, key: ++lastKey, version, holders: 1 }
  }

  private more(): number {
    if (this.taken > this.most) {
      throw new QuintainError(
        'samplers_exhausted',
        `Samplers of ${this.most} earlier versions of the weights are open, and the engine keeps no more. Close those that are done.`,
        { facts: { most: this.most } },
      )
    }
    this.taken++
    return this.memory.take(this.memory.packed)
  }

  /** A place for the weights that come after some: the same one where the learner alone holds it. Throws `samplers_exhausted`. */
  after({ offset, holders }: HeldCopy, version: number): HeldCopy {
    return holders > 1 ? this.take(version) : { offset, key: ++lastKey, version, holders: 1 }
  }

  /** The learner holds the one and not the other any more, whether they lie in one place or in two. */
  discard(copy: HeldCopy, kept: HeldCopy): void {
    if (copy.offset !== kept.offset) this.drop(copy)
  }

  private drop(copy: HeldCopy): void {
    copy.holders--
    if (copy.holders === 0) this.free.push(copy.offset)
  }

  /** What a sampler holds of a copy. */
  share(copy: HeldCopy): WeightsCopy {
    copy.holders++
    return {
      offset: copy.offset,
      key: copy.key,
      version: copy.version,
      release: () => this.drop(copy),
    }
  }
}
