/** A mean with what went into it. `mean` is null when nothing was scored: never 0, never NaN. */
export interface Mean {
  mean: number | null
  /** Scores that are finite numbers. */
  n: number
  /** Scores that are null or not finite: known to be missing, not counted as anything. */
  unscored: number
}

/** The mean of the scores that exist. Sums by Neumaier's compensated method, so order hardly matters. */
export function mean(scores: Iterable<number | null>): Mean {
  let n = 0
  let unscored = 0
  let sum = 0
  let lost = 0
  for (const score of scores) {
    if (score === null || !Number.isFinite(score)) {
      unscored++
      continue
    }
    n++
    const next = sum + score
    lost += Math.abs(sum) >= Math.abs(score) ? sum - next + score : score - next + sum
    sum = next
  }
  return { mean: n === 0 ? null : (sum + lost) / n, n, unscored }
}
