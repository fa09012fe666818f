import { seededStream } from './seeded-stream.ts'
import { exactFlipLimit, flippable, signFlipTest } from './sign-flip-test.ts'

export interface SignFlips {
  /** Two-sided, in (0, 1]. */
  p: number
  /** `exact`: over all sign patterns. `sampled`: of `draws` random patterns, (1 + as extreme) / (1 + draws). */
  method: 'exact' | 'sampled'
  /** Values other than zero: what can be flipped. */
  flipped: number
  draws?: number
}

export interface SignFlipOptions {
  seed?: number
  /**
   * Random patterns where they cannot all be counted: 10,000 when absent, so that p is at least 0.0001. From 99 to what
   * takes about half a second: ten million for 80 values, fewer for more. How many it were is in the result.
   */
  draws?: number
}

/** Cells of work that the exact count may take, about a tenth of a second. */
const exactWork = 3e7
/** Look-ups that a sampled p may take, about half a second. */
const sampledWork = 1e8
/** A common fraction smaller than this, beside the largest value, would have too many multiples to count. */
const smallestFraction = 1e-7
/** How far from a multiple a value may lie by rounding, beside the largest value. */
const rounding = 1e-12

/**
 * Two-sided sign-flip permutation test that the values are symmetric round zero: paired differences of tasks, or sums
 * of them by cluster. Exact up to 20 values other than zero, and for any number of values that are multiples of a
 * common fraction (means of repeats of pass or fail are); sampled with a seed otherwise. Not finite values are left out,
 * and what is less than 10^-12 of the largest is rounding. The unit of the values does not matter.
 *
 * A small p says that the values are not symmetric round zero, as they are when two policies play alike. It does not say
 * that their mean is not zero: see `boundedMeanTest`.
 */
export function signFlips(
  values: Iterable<number>,
  { seed = 1, draws = 10_000 }: SignFlipOptions = {},
): SignFlips {
  const sizes = flippable(values)
  const flipped = sizes.length
  if (flipped === 0) return { p: 1, method: 'exact', flipped }
  const exact = flipped <= exactFlipLimit ? signFlipTest(sizes) : countedFlips(sizes)
  if (exact !== null) return { p: exact, method: 'exact', flipped }
  const most = Math.floor((sampledWork * widthFor(flipped)) / flipped)
  const rounds = Math.max(99, Math.min(1e7, most, Math.floor(draws) || 0))
  return { p: sampledFlips(sizes, rounds, seed), method: 'sampled', flipped, draws: rounds }
}

/** The sizes of the values as whole multiples of the largest fraction that divides them all; null where none does. */
function wholeMultiples(values: readonly number[]): number[] | null {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  let common = 0
  for (const value of values) {
    common = commonFraction(Math.abs(value), common, smallestFraction * largest)
    if (common <= smallestFraction * largest) return null
  }
  // What rounding did to the fraction is undone by the largest value, of which it is a part.
  const exact = largest / Math.round(largest / common)
  const steps = values.map((value) => Math.round(Math.abs(value) / exact))
  const fits = values.every(
    (value, i) => steps[i]! > 0 && Math.abs(Math.abs(value) - steps[i]! * exact) <= rounding * largest,
  )
  return fits ? steps : null
}

/** Euclid's algorithm: the largest number of which both are multiples, where less than `slack` is nothing. */
function commonFraction(a: number, b: number, slack: number): number {
  let [large, small] = a > b ? [a, b] : [b, a]
  while (small > slack) {
    const rest = large % small
    ;[large, small] = [small, Math.min(rest, small - rest)]
  }
  return large
}

/** Counts the sign patterns by their sums, one value after the other; null where there are too many sums. */
function countedFlips(values: readonly number[]): number | null {
  const steps = wholeMultiples(values)
  if (steps === null) return null
  const total = steps.reduce((sum, step) => sum + step, 0)
  if (total * steps.length > exactWork) return null
  const observed = Math.abs(values.reduce((sum, value, i) => sum + Math.sign(value) * steps[i]!, 0))
  if (observed === 0) return 1
  // share[s]: the share of patterns in which the values with a plus sum to s.
  const share = new Float64Array(total + 1)
  share[0] = 1
  let reach = 0
  for (const step of steps) {
    reach += step
    for (let s = reach; s >= step; s--) share[s] = 0.5 * (share[s]! + share[s - step]!)
    for (let s = step - 1; s >= 0; s--) share[s] = 0.5 * share[s]!
  }
  // As far below as was seen above, and as often by symmetry.
  let tail = 0
  for (let s = 0; 2 * s <= total - observed; s++) tail += share[s]!
  return Math.max(Number.MIN_VALUE, Math.min(1, 2 * tail))
}

/** The share of random sign patterns that are as extreme, what was seen counted among them: such a p is valid and never zero. */
function sampledFlips(values: readonly number[], draws: number, seed: number): number {
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0))
  const slack = 1e-12 * values.reduce((sum, value) => sum + Math.abs(value), 0)
  // Sums of eight values under each of their 256 sign patterns: one look-up flips eight. Of many values four, so that
  // the sums stay where the processor reaches them fast.
  const width = widthFor(values.length)
  const patterns = 1 << width
  const blocks = Math.ceil(values.length / width)
  const sums = new Float64Array(blocks * patterns)
  for (let at = 0; at < sums.length; at++) {
    const block = Math.floor(at / patterns)
    let sum = 0
    for (let i = 0; i < width; i++) {
      const value = values[block * width + i] ?? 0
      sum += (at >> i) & 1 ? value : -value
    }
    sums[at] = sum
  }
  const { bits } = seededStream(seed)
  const blocksPerWord = 32 / width
  let extreme = 0
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    let word = 0
    for (let block = 0; block < blocks; block++) {
      word = block % blocksPerWord === 0 ? bits() : word >>> width
      sum += sums[block * patterns + (word & (patterns - 1))]!
    }
    if (Math.abs(sum) >= observed - slack) extreme++
  }
  return (extreme + 1) / (draws + 1)
}

/** How many values one look-up flips. */
function widthFor(values: number): number {
  return values > 2048 ? 4 : 8
}
