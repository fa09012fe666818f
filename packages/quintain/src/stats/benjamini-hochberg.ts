import { rankedUp } from './holm.ts'

/**
 * p-values adjusted by Benjamini and Hochberg's method: of those at or below q, a share of at most q is expected to be
 * false, where the tests are independent or positively dependent. For dashboards; for a declared family use `holm`.
 * A null (no test) stays null and does not count. In the order given.
 *
 * Source: Benjamini and Hochberg, "Controlling the False Discovery Rate" (JRSS B 57, 1995).
 */
export function benjaminiHochberg(pValues: readonly (number | null)[]): (number | null)[] {
  const ranked = rankedUp(pValues)
  const adjusted = pValues.map((): number | null => null)
  let reached = 1
  for (let rank = ranked.length; rank >= 1; rank--) {
    const { p, place } = ranked[rank - 1]!
    reached = Math.min(reached, p * (ranked.length / rank))
    adjusted[place] = reached
  }
  return adjusted
}
