/** What a test of a mean of bounded values came to. All p-values lie in (0, 1]. */
export interface BoundedMeanTest {
  /** Of "the mean is at least `mean`": small where the values lie below it. */
  pBelow: number
  /** Of "the mean is at most `mean`": small where they lie above. */
  pAbove: number
  /** Two-sided: twice the smaller one. */
  p: number
}

export interface BoundedMeanOptions {
  /** The mean that is tested; 0 when absent. */
  mean?: number
  /** Lowest and highest value there can be. Values outside it, and not finite ones, give no test. */
  range: readonly [number, number]
}

/**
 * Tests the mean of independent bounded values, whatever their shape. Unlike a sign-flip test, which asks whether
 * values are symmetric round zero, it keeps its level where many tasks lose a little and few gain much, and unlike a t
 * test it does so with ten of them. Null for no values, or for ones that lie outside the range.
 *
 * p is the chance that the values, and one more at the end of the range that speaks most for the hypothesis, have a mean
 * on the side of the hypothesis when they are given weights at random (Dirichlet). For yes and no it is Clopper and
 * Pearson's exact test, for -1, 0 and 1 McNemar's; for the rest its level was never seen to fail, and is not proven.
 *
 * Sources: Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable"
 * (Mathematical Methods of Statistics 14, 2005); Learned-Miller and Thomas, "A New Confidence Interval for the Mean of a
 * Bounded Random Variable" (arXiv 1905.06208).
 */
export function boundedMeanTest(
  values: readonly number[],
  { mean = 0, range: [lowest, highest] }: BoundedMeanOptions,
): BoundedMeanTest | null {
  const width = highest - lowest
  const slack = 1e-9 * width
  const outside = (value: number) => !(value >= lowest - slack && value <= highest + slack)
  // The mean may lie beyond the range, where the answer is plain; what is not finite has none.
  if (values.length === 0 || !(width > 0) || !Number.isFinite(width) || !Number.isFinite(mean)) return null
  if (values.some(outside)) return null
  const counts = new Map<number, number>()
  for (const value of values) {
    const share = (value - mean) / width
    counts.set(share, (counts.get(share) ?? 0) + 1)
  }
  const pBelow = chanceNotBelow(counts, (highest - mean) / width)
  const mirrored = new Map([...counts].map(([share, count]) => [-share, count]))
  const pAbove = chanceNotBelow(mirrored, (mean - lowest) / width)
  return { pBelow, pAbove, p: Math.min(1, 2 * Math.min(pBelow, pAbove)) }
}

/** Weights smaller than this, beside a range of one, are rounding. */
const negligible = 1e-13
/** Steps of the sum that stands for the integral, in which the error falls like exp(-1 / step). */
const step = 0.02
const furthest = 22

/** The chance that the sum of independent exponentials, times these weights, is not below zero. */
function chanceNotBelow(counts: ReadonlyMap<number, number>, extra: number): number {
  const weights: number[] = []
  const times: number[] = []
  for (const [weight, count] of [...counts, [extra, 1] as const]) {
    if (Math.abs(weight) <= negligible) continue
    weights.push(weight)
    times.push(count)
  }
  if (!weights.some((weight) => weight < 0)) return 1
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0)
  if (largest === 0) return Number.MIN_VALUE
  // P(Q >= 0) = 1/(2 pi i) * integral of E[exp(sQ)]/s along the line through its saddle point, where nothing cancels.
  const saddle = saddlePoint(weights, times, largest)
  let curvature = 1 / saddle ** 2
  for (const [j, weight] of weights.entries()) curvature += times[j]! * (weight / (1 - weight * saddle)) ** 2
  const scale = 1 / Math.sqrt(curvature)
  const heightAt = (t: number): { log: number; angle: number } => {
    let log = -Math.log(Math.hypot(saddle, t))
    let angle = -Math.atan2(t, saddle)
    for (const [j, weight] of weights.entries()) {
      const real = 1 - weight * saddle
      const imaginary = weight * t
      log -= times[j]! * Math.log(Math.hypot(real, imaginary))
      angle += times[j]! * Math.atan2(imaginary, real)
    }
    return { log, angle }
  }
  const top = heightAt(0).log
  let sum = 0.5
  for (let u = step; u < furthest; u += step) {
    const { log, angle } = heightAt(scale * Math.sinh(u))
    const size = Math.exp(log - top) * Math.cosh(u)
    sum += size * Math.cos(angle)
    if (size < 1e-17) break
  }
  const chance = (Math.exp(top) * scale * step * sum) / Math.PI
  return Math.max(Number.MIN_VALUE, Math.min(1, chance))
}

/** Where E[exp(sQ)]/s is smallest between 0 and the pole at 1/largest. */
function saddlePoint(weights: readonly number[], times: readonly number[], largest: number): number {
  let low = 0
  let high = 1 / largest
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2
    let slope = -1 / middle
    for (const [j, weight] of weights.entries()) slope += (times[j]! * weight) / (1 - weight * middle)
    if (slope < 0) low = middle
    else high = middle
  }
  return (low + high) / 2
}
