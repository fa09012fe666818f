/**
 * p-values adjusted by Holm's method: rejecting those at or below alpha makes any false rejection in the family at most
 * alpha likely, whatever depends on what. For a family that was declared before looking. A null (no test) stays null
 * and does not count. In the order given.
 *
 * Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (Scandinavian Journal of Statistics 6, 1979).
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const ranked = rankedUp(pValues)
  let reached = 0
  const adjusted = pValues.map((): number | null => null)
  for (const [rank, { p, place }] of ranked.entries()) {
    reached = Math.max(reached, Math.min(1, p * (ranked.length - rank)))
    adjusted[place] = reached
  }
  return adjusted
}

/** The p-values that are numbers in [0, 1], smallest first, with their places. */
export function rankedUp(pValues: readonly (number | null)[]): { p: number; place: number }[] {
  return pValues
    .map((p, place) => ({ p: p ?? Number.NaN, place }))
    .filter(({ p }) => p >= 0 && p <= 1)
    .sort((left, right) => left.p - right.p)
}
