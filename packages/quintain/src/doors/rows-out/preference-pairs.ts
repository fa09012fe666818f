import type { Chosen, NoRow } from './choose-attempts.ts'
import { passes, type RowFilter } from './row-filter.ts'

/** Two attempts at one task of which the first was better. */
export interface Pair {
  chosen: Chosen
  rejected: Chosen
}

export interface PairOptions {
  margin: number
  /** Which attempts may be the better one of a pair. */
  filter: RowFilter
  most?: number | undefined
}

/**
 * As many pairs as can be made of some scored attempts at a task when each is in one pair at most, and every pair differs
 * by `margin` or, where that is 0, at all. Better ones are put with worse ones in order, so that the differences within
 * pairs are alike: the most pairs that there are come from the best m and the worst m, for the greatest m that will do.
 */
export function pairsOf(
  attempts: readonly Chosen[],
  { margin, filter, most = Number.POSITIVE_INFINITY }: PairOptions,
  leaveOut: (why: NoRow) => void,
): Pair[] {
  const sorted = attempts
    .filter(({ reward }) => reward !== null)
    .toSorted((a, b) => b.reward! - a.reward! || a.order.seq - b.order.seq)
  const count = sorted.length
  const differs = (better: number, worse: number) => {
    const difference = sorted[better]!.reward! - sorted[worse]!.reward!
    return difference > 0 && difference >= margin && passes(filter, sorted[better]!)
  }
  let pairs = Math.min(Math.floor(count / 2), most)
  // The worst of the better half against the best of the worse half fails first, though not always: all are looked at.
  while (pairs > 0 && !range(pairs).every((at) => differs(at, count - pairs + at))) pairs--
  for (let left = 2 * pairs; left < attempts.length; left++) leaveOut('unpaired')
  return range(pairs).map((at) => ({ chosen: sorted[at]!, rejected: sorted[count - pairs + at]! }))
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}
