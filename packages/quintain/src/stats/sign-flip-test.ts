/** Most non-zero differences for which all sign patterns are visited: a million. */
export const exactFlipLimit = 20

/**
 * Exact two-sided sign-flip permutation test that differences are symmetric round zero: the share of the sign patterns
 * whose sum is at least as far from zero. Null above `exactFlipLimit` differences other than zero (zeros change nothing).
 * What is less than a billionth of a thousandth of the largest is rounding, and counts as zero.
 */
export function signFlipTest(differences: readonly number[]): number | null {
  const sizes = flippable(differences)
  if (sizes.length > exactFlipLimit) return null
  if (sizes.length === 0) return 1
  const observed = Math.abs(sizes.reduce((sum, value) => sum + value, 0))
  const scale = sizes.reduce((sum, value) => sum + Math.abs(value), 0)
  const slack = 1e-12 * scale
  const patterns = 2 ** sizes.length
  // In Gray code order each pattern differs from the one before in one sign.
  const flipped = sizes.map(() => false)
  let sum = sizes.reduce((total, value) => total + value, 0)
  let extreme = Math.abs(sum) >= observed - slack ? 1 : 0
  for (let i = 1; i < patterns; i++) {
    const bit = 31 - Math.clz32(i & -i)
    sum += (flipped[bit] ? 2 : -2) * sizes[bit]!
    flipped[bit] = !flipped[bit]
    if (Math.abs(sum) >= observed - slack) extreme++
  }
  return extreme / patterns
}

/**
 * The finite values other than zero, as shares of the largest, so that no sum of them is too large for a number and
 * nothing below depends on the unit of the scores.
 */
export function flippable(values: Iterable<number>): number[] {
  const finite = [...values].filter((value) => Number.isFinite(value))
  const largest = finite.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  // A power of two, by which nothing is rounded, and never by a number that is too small to divide by.
  const unit = largest < 1e-300 ? largest : 2 ** Math.floor(Math.log2(largest))
  return finite.filter((value) => Math.abs(value) > rounding * largest).map((value) => value / unit)
}

/** Beside the largest value, what a difference of equal means of repeats may come to. */
const rounding = 1e-12
