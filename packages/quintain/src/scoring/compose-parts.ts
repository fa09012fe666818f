/** One part of a composed reward. */
export interface RewardPart {
  name: string
  /** From 0 to 1; null where the part has no number. */
  value: number | null
  /** Share in a weighted sum, 0 or more; 1 when absent. */
  weight?: number
  /** Below this value the whole reward is 0: what else was done well does not count. */
  gate?: number
  /** Checks that were to run, and that ran. A part with fewer run than expected has no number. */
  checks?: { expected: number; run: number }
}

export interface PartsReward {
  /** From 0 to 1; null when a part that counts has no number or its checks did not all run. */
  reward: number | null
  /** Parts that have no number, by name. */
  missing: string[]
  /** Parts below their gate, by name. */
  closed: string[]
  /** Sums over the parts that say them. */
  checks: { expected: number; run: number }
}

/**
 * A reward from parts: their weighted mean, the least or the greatest. No number is made up for a part that
 * has none, not even one of weight 0 or beside a closed gate: the reward is then null, as it is without parts,
 * without any weight, or with a value outside 0 to 1. A weighted sum with no positive weight is no reward.
 *
 * @example
 * composeParts('sum', [{ name: 'tests', value: 1, weight: 3, gate: 1 }, { name: 'style', value: 0.5 }])
 */
export function composeParts(how: 'sum' | 'min' | 'max', parts: readonly RewardPart[]): PartsReward {
  const checks = { expected: 0, run: 0 }
  const missing: string[] = []
  const closed: string[] = []
  const values: { value: number; weight: number }[] = []
  for (const { name, value, weight = 1, gate, checks: counted } of parts) {
    checks.expected += counted?.expected ?? 0
    checks.run += counted?.run ?? 0
    const complete = counted === undefined || (counted.expected > 0 && counted.run === counted.expected)
    if (!complete || value === null || !(value >= 0 && value <= 1) || !(weight >= 0 && weight < Infinity)) {
      missing.push(name)
      continue
    }
    if (gate !== undefined && !(value >= gate)) closed.push(name)
    values.push({ value, weight })
  }
  const whole = missing.length === 0 && values.length > 0
  const reward = whole ? combine(how, values) : null
  return { reward: reward !== null && closed.length > 0 ? 0 : reward, missing, closed, checks }
}

function combine(
  how: 'sum' | 'min' | 'max',
  values: readonly { value: number; weight: number }[],
): number | null {
  const worst = values.reduce((least, { value }) => Math.min(least, value), 1)
  const best = values.reduce((most, { value }) => Math.max(most, value), 0)
  if (how === 'min') return worst
  if (how === 'max') return best
  const heaviest = values.reduce((most, { weight }) => Math.max(most, weight), 0)
  if (heaviest === 0) return null
  // A power of two rounds nothing, and keeps the sum of great weights finite.
  const scale = 2 ** Math.max(-1022, Math.floor(Math.log2(heaviest)))
  const total = values.reduce((sum, { weight }) => sum + weight / scale, 0)
  const sum = values.reduce((sum, { value, weight }) => sum + value * (weight / scale), 0)
  return Math.min(best, Math.max(worst, sum / total))
}
