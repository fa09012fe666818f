import type { Played } from './played.ts'

/** What rewards are worth: 0 is the least that anything earned, 1 what the oracle earns. */
export interface PayScale {
  least: number
  full: number
  /** Who said what a full reward is. */
  by: 'oracle' | 'successes' | 'assumed'
}

/**
 * The scale by what was seen. Where neither an oracle nor a success says what a full reward is, it is taken to be 1 above
 * the least, or the most that was earned.
 */
export function payScale(
  seen: readonly Pick<Played, 'reward' | 'success'>[],
  oracle: readonly Pick<Played, 'reward' | 'success'>[],
): PayScale | undefined {
  const rewards = [...seen, ...oracle].flatMap(({ reward }) => reward ?? [])
  if (rewards.length === 0) return undefined
  const least = rewards.reduce((a, b) => Math.min(a, b))
  const paid = oracle.flatMap(({ reward, success }) => (reward !== null && success !== false ? reward : []))
  if (paid.length > 0) return { least, full: mean(paid), by: 'oracle' }
  const successes = seen.flatMap(({ reward, success }) => (reward !== null && success === true ? reward : []))
  if (successes.length > 0) return { least, full: mean(successes), by: 'successes' }
  return { least, full: rewards.reduce((a, b) => Math.max(a, b), least + 1), by: 'assumed' }
}

/** The share of a full reward that a reward is. All of it where everything earns the same. */
export function shareOf(reward: number, { least, full }: PayScale): number {
  return full - least < 1e-9 ? 1 : (reward - least) / (full - least)
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
