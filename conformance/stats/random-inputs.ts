import { createRng, type Rng } from '../../packages/quintain/src/core/index.ts'

/** Random inputs of the kinds that statistics are asked of; equal seeds give equal inputs. */
export class RandomInputs {
  readonly rng: Rng

  constructor(seed: string) {
    this.rng = createRng(seed)
  }

  /** Uniform in [low, high). */
  real(low: number, high: number): number {
    return low + (high - low) * this.rng.next()
  }

  /** Whole, from low to high. */
  whole(low: number, high: number): number {
    return low + this.rng.int(high - low + 1)
  }

  /** From low to high, evenly by orders of magnitude. */
  magnitude(low: number, high: number): number {
    return Math.exp(this.real(Math.log(low), Math.log(high)))
  }

  list<T>(length: number, make: (index: number) => T): T[] {
    return Array.from({ length }, (_, index) => make(index))
  }

  /** Normal with mean 0 and variance 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.rng.next())) * Math.cos(2 * Math.PI * this.rng.next())
  }

  /** Repeats of tasks that differ: pass or fail, or graded and negative ones too. `repeats` of each, or 1 to 6. */
  tasks(options: { tasks: number; binary: boolean; repeats?: number }): number[][] {
    const { tasks, binary, repeats } = options
    return this.list(tasks, () => {
      const rate = this.real(0, 1)
      return this.list(repeats ?? this.whole(1, 6), () =>
        binary ? Number(this.rng.next() < rate) : 3 * rate - 1 + 0.5 * this.normal(),
      )
    })
  }

  /** Tasks of which some scores differ from others, as every estimator wants. */
  uneven(options: { tasks: number; binary: boolean; repeats?: number }): number[][] {
    for (;;) {
      const tasks = this.tasks(options)
      const means = tasks.map((scores) => scores.reduce((sum, score) => sum + score, 0) / scores.length)
      if (new Set(means).size > 1) return tasks
    }
  }
}
