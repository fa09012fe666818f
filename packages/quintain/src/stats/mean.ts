/** A mean with what went into it. `mean` is null when nothing was scored: never 0, never NaN. */
export interface Mean {
  mean: number | null
  /** Scores that are finite numbers. */
  n: number
  /** Scores that are null or not finite: known to be missing, not counted as anything. */
  unscored: number
}

/** A mean that is taken as the scores come, in constant memory. Sums by Neumaier's compensated method, so order hardly matters. */
export class RunningMean {
  n = 0
  unscored = 0
  private sum = 0
  private lost = 0

  add(score: number | null): void {
    if (score === null || !Number.isFinite(score)) {
      this.unscored++
      return
    }
    this.n++
    const next = this.sum + score
    this.lost += Math.abs(this.sum) >= Math.abs(score) ? this.sum - next + score : score - next + this.sum
    this.sum = next
  }

  /** Sum of the scores that exist. */
  get total(): number {
    return this.sum + this.lost
  }

  get mean(): number | null {
    return this.n === 0 ? null : this.total / this.n
  }
}

/** The mean of the scores that exist. */
export function mean(scores: Iterable<number | null>): Mean {
  const running = new RunningMean()
  for (const score of scores) running.add(score)
  const { mean, n, unscored } = running
  return { mean, n, unscored }
}
