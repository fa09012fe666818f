import { seededStream } from './seeded-stream.ts'

/** What is drawn from: of each cluster the number of its scores and their sum. */
export interface DrawnFrom {
  sizes: Float64Array
  sums: Float64Array
}

/** Sizes and sums of the clusters that have a finite score, and whether all scores are zeros and ones. */
export function drawnFrom(clusters: Iterable<ArrayLike<number>>): DrawnFrom & { binary: boolean } {
  const sizes: number[] = []
  const sums: number[] = []
  let binary = true
  for (const cluster of clusters) {
    let size = 0
    let sum = 0
    for (let i = 0; i < cluster.length; i++) {
      const score = cluster[i]!
      if (!Number.isFinite(score)) continue
      size++
      sum += score
      if (score !== 0 && score !== 1) binary = false
    }
    if (size === 0) continue
    sizes.push(size)
    sums.push(sum)
  }
  return { sizes: Float64Array.from(sizes), sums: Float64Array.from(sums), binary }
}

/**
 * Means of `resamples` samples of as many clusters, drawn with replacement; a mean is the sum of all scores drawn over
 * their number. A generator: it stops after every `slice` draws of a cluster, for callers who must let others run.
 * The numbers do not depend on `slice`.
 */
export function* bootstrapDraws(
  { sizes, sums }: DrawnFrom,
  { resamples, seed, slice = Number.POSITIVE_INFINITY }: { resamples: number; seed: number; slice?: number },
): Generator<undefined, Float64Array> {
  const count = sizes.length
  const means = new Float64Array(resamples)
  const even = sizes.every((size) => size === sizes[0])
  const { below } = seededStream(seed)
  const between = Math.max(1, Math.floor(slice / count))
  for (let from = 0; from < resamples; from += between) {
    const to = Math.min(resamples, from + between)
    if (even) fillEven(means, from, to, sums, count * sizes[0]!, below)
    else fillUneven(means, from, to, sums, sizes, below)
    if (to < resamples) yield
  }
  return means
}

type Below = (bound: number) => number

function fillEven(
  means: Float64Array,
  from: number,
  to: number,
  sums: Float64Array,
  n: number,
  below: Below,
) {
  const count = sums.length
  for (let draw = from; draw < to; draw++) {
    let sum = 0
    for (let i = 0; i < count; i++) sum += sums[below(count)]!
    means[draw] = sum / n
  }
}

function fillUneven(
  means: Float64Array,
  from: number,
  to: number,
  sums: Float64Array,
  sizes: Float64Array,
  below: Below,
) {
  const count = sums.length
  for (let draw = from; draw < to; draw++) {
    let sum = 0
    let n = 0
    for (let i = 0; i < count; i++) {
      const chosen = below(count)
      sum += sums[chosen]!
      n += sizes[chosen]!
    }
    means[draw] = sum / n
  }
}
