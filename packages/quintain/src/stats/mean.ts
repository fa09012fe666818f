/** A mean with what went into it. `mean` is null when nothing was scored: never 0, never NaN. */
export interface Mean {
  mean: number | null
  /** Scores that are finite numbers. */
  n: number
  /** Scores that are null or not finite: known to be missing, not counted as anything. */
  unscored: number
}

/** Sums are kept in this unit: a power of two rounds nothing, and sixteen million of the largest numbers can be added. */
const unit = 2 ** -24

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
    const part = score * unit
    const next = this.sum + part
    this.lost += Math.abs(this.sum) >= Math.abs(part) ? this.sum - next + part : part - next + this.sum
    this.sum = next
  }

  /** Sum of the scores that exist. */
  get total(): number {
    return (this.sum + this.lost) / unit
  }

  get mean(): number | null {
    return this.n === 0 ? null : (this.sum + this.lost) / this.n / unit
  }
}

/** The mean of the scores that exist. */
export function mean(scores: Iterable<number | null>): Mean {
  const running = new RunningMean()
  for (const score of scores) running.add(score)
  const { mean, n, unscored } = running
  return { mean, n, unscored }
}
