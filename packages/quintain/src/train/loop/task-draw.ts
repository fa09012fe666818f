import { createRng, type Rng } from '../../core/index.ts'
import type { TaskSummary } from '../../engine/index.ts'
import type { Curriculum, Pools } from './train-options.ts'

/**
 * Which task comes next. The same seed, and the same results told at the same places, give the same tasks, so that a
 * training that is taken up goes on as it would have.
 */
export class TaskDraw {
  private readonly tasks: readonly TaskSummary[]
  private readonly seed: string
  private readonly curriculum: Curriculum
  /** Tasks drawn so far. */
  private count: number
  private epoch: { number: number; order: readonly TaskSummary[] } | undefined
  /** Share of successes in the latest group of each task. */
  private readonly shares = new Map<string, number>()

  constructor({
    tasks,
    seed,
    curriculum,
    drawn = 0,
  }: {
    tasks: readonly TaskSummary[]
    seed: string
    curriculum: Curriculum
    /** How many were drawn before. */
    drawn?: number
  }) {
    this.tasks = tasks
    this.seed = seed
    this.curriculum = curriculum
    this.count = drawn
  }

  /** What came of a group of a task: the share of its scored rollouts that succeeded; null where nothing says so. */
  saw(task: string, share: number | null): void {
    if (share !== null) this.shares.set(task, share)
  }

  /** The next task. With pools, none of `busy` unless there is no other. */
  next(busy: ReadonlySet<string>): TaskSummary {
    const at = this.count++
    return this.curriculum === 'uniform' ? this.inTurn(at) : this.fromPools(this.curriculum.pools, at, busy)
  }

  private inTurn(at: number): TaskSummary {
    const number = Math.floor(at / this.tasks.length)
    if (this.epoch?.number !== number) {
      this.epoch = { number, order: this.rng(`epoch/${number}`).shuffle(this.tasks) }
    }
    return this.epoch.order[at % this.tasks.length]!
  }

  private fromPools(pools: Pools, at: number, busy: ReadonlySet<string>): TaskSummary {
    const free = this.tasks.filter(({ id }) => !busy.has(id))
    const among = free.length > 0 ? free : this.tasks
    const weights = among.map(({ id }) => this.weightOf(id, pools))
    let left = this.rng(`draw/${at}`).next() * weights.reduce((sum, weight) => sum + weight, 0)
    const place = weights.findIndex((weight) => {
      left -= weight
      return left < 0
    })
    // All weights 0: whichever is left.
    return among[place < 0 ? at % among.length : place]!
  }

  private weightOf(task: string, { hard, normal, easy }: Pools): number {
    const share = this.shares.get(task)
    if (share === undefined) return normal.weight
    return share <= hard.most ? hard.weight : share <= normal.most ? normal.weight : easy.weight
  }

  private rng(label: string): Rng {
    return createRng(`${this.seed}/${label}`)
  }
}
