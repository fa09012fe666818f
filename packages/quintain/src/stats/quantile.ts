/**
 * Quantile of numbers sorted upwards, by linear interpolation between order statistics (Hyndman and Fan's type 7,
 * the default of R and NumPy). Null for an empty list or a q outside [0, 1].
 */
export function quantile(sorted: ArrayLike<number>, q: number): number | null {
  if (sorted.length === 0 || !(q >= 0 && q <= 1)) return null
  const place = (sorted.length - 1) * q
  const below = Math.floor(place)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  if (low === high) return low
  const share = place - below
  const gap = high - low
  // Between numbers of both signs the gap can be larger than the largest number.
  return Number.isFinite(gap) ? low + gap * share : low * (1 - share) + high * share
}
