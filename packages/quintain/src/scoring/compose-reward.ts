/** A reward made of parts, and what became of each. */
export interface ComposedReward {
  /** Product of the parts in the basis; null when one of them is missing or has no number. */
  reward: number | null
  /** Parts that were checked and do not count. Show them as such: a reader takes a failed check for a failed task. */
  unused: string[]
  /** Parts of the basis without a number: not checked, or unscored. */
  missing: string[]
}

/**
 * A reward from the parts that are its basis, by multiplication, so that each must hold (tau2-bench's rule). A part
 * that the basis names and nobody checked is no success: the reward is null, and `missing` names it. So is the reward of
 * an empty basis, which would otherwise reward everything.
 */
export function composeReward(
  basis: readonly string[],
  parts: Readonly<Record<string, number | null | undefined>>,
): ComposedReward {
  const counted = new Set(basis)
  const missing: string[] = []
  let product = 1
  for (const name of counted) {
    const value = Object.hasOwn(parts, name) ? parts[name] : undefined
    if (typeof value === 'number' && Number.isFinite(value)) product *= value
    else missing.push(name)
  }
  return {
    reward: missing.length > 0 || counted.size === 0 ? null : product,
    unused: Object.keys(parts).filter((name) => !counted.has(name)),
    missing,
  }
}
