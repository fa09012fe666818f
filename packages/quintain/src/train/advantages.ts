import { QuintainError } from '../core/index.ts'
import type { Algorithm } from './records.ts'

/** How differences of rewards become advantages; see `algorithm` of records.ts. */
export interface AdvantageOptions {
  /** What is taken off: the mean of the group, the mean of its other members, or nothing. `mean` when absent. */
  baseline?: Algorithm['advantage']['baseline']
  /** What the difference is divided by. `none` when absent. */
  scale?: Algorithm['advantage']['scale']
  /** Over n, or over n - 1. `population` when absent. */
  std?: Algorithm['advantage']['std']
  /** Added to the spread before it divides; 0 when absent. */
  eps?: number
  /** Rewards that lie no further apart are equal. 1e-8 when absent; noise of rounding is none whatever it says. */
  tolerance?: number
}

/** Advantages of one group, one for each reward. */
export interface GroupAdvantages {
  /** 0 for members that have no reward. */
  advantages: number[]
  /** True for members that have no reward: they are outside the statistics, and not to be trained on. */
  masked: boolean[]
  /** Members that have one. */
  scored: number
  /** Mean and spread of the rewards; null where none was scored. */
  mean: number | null
  spread: number | null
  /** Nothing to learn from: the rewards do not differ, or there is only one, or none. */
  zeroVariance: boolean
}

/** Sums of ten thousand terms stay within it; a judge's noise does not, and is what `tolerance` is for. */
const roundingNoise = 1e-12

/**
 * Advantages of groups, each from the rewards of its own members. `null` is a rollout that nobody scored: it is left out of
 * the statistics and masked, never a 0. Members of a group whose rewards do not differ have advantage 0, exactly, and so has
 * a group of one, since there is nothing to compare it with; only without a baseline it keeps its reward. `batch_std` is the
 * spread of all rewards given, those of dead groups too.
 *
 * Sources: mean and spread of the group, GRPO (arXiv 2402.03300); without the spread, Dr. GRPO (2503.20783); leave-one-out,
 * RLOO (2402.14740); spread of the batch, 2508.08221.
 *
 * Throws `reward_invalid` for a reward that is neither null nor a finite number.
 *
 * @example batchAdvantages([[1, 0, 0, 0]], { scale: 'group_std' })[0].advantages // [1.732…, -0.577…, …]
 */
export function batchAdvantages(
  groups: readonly (readonly (number | null)[])[],
  options: AdvantageOptions = {},
): GroupAdvantages[] {
  const { baseline = 'mean', scale = 'none', std = 'population', eps = 0, tolerance = 1e-8 } = options
  const all = groups.map((rewards, group) =>
    statisticsOf(
      rewards.map((reward, member) =>
        reward === null ? null : finiteReward(reward, `member ${member} of group ${group}`),
      ),
      std,
      tolerance,
    ),
  )
  const batch = statisticsOf(
    groups.flat().filter((reward) => reward !== null),
    std,
    tolerance,
  )
  return all.map((group, at): GroupAdvantages => {
    const { mean, spread, scored, equal } = group
    const nothing = baseline === 'none' ? scored === 0 : equal
    const divisor = scale === 'none' ? 1 : (scale === 'group_std' ? spread : batch.spread)! + eps
    const factor = baseline === 'leave_one_out' ? scored / (scored - 1) : 1
    const advantageOf = (reward: number | null): number => {
      if (reward === null || nothing) return 0
      const difference = baseline === 'none' ? reward : (reward - mean!) * factor
      return difference / divisor
    }
    const advantages = groups[at]!.map(advantageOf)
    const place = advantages.findIndex((advantage) => !Number.isFinite(advantage))
    if (place >= 0) {
      throw new QuintainError(
        'reward_invalid',
        `The advantage of member ${place} of group ${at} is ${advantages[place]}: its reward is too large, or is to be divided by a spread of 0. Scale the rewards, or do not divide.`,
        { facts: { group: at, member: place } },
      )
    }
    return {
      advantages,
      masked: groups[at]!.map((reward) => reward === null),
      scored,
      mean,
      spread,
      zeroVariance: equal,
    }
  })
}

/** `batchAdvantages` of a single group. */
export function groupAdvantages(
  rewards: readonly (number | null)[],
  options: AdvantageOptions = {},
): GroupAdvantages {
  return batchAdvantages([rewards], options)[0]!
}

/**
 * A reward as a number. Throws `reward_invalid`, naming what it is the reward of, for anything that is not a finite number:
 * text, truth values, lists and nothing are never a score.
 */
export function finiteReward(value: unknown, of: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const what = value === null || typeof value === 'number' ? String(value) : `a value of kind ${typeof value}`
  throw new QuintainError(
    'reward_invalid',
    `The reward of ${of} is ${what}, and only a finite number is one. Repair the verifier, or let it say that it could not score (null).`,
    { facts: { of } },
  )
}

/** Larger ones leave what the numbers of an engine, and the means of records, can hold. */
const largestReward = 1e35

/** A reward that can be trained on. Throws `reward_invalid` for one that is none, or is further than 1e35 from 0. */
export function trainableReward(value: unknown, of: string): number {
  const reward = finiteReward(value, of)
  if (Math.abs(reward) <= largestReward) return reward
  throw new QuintainError(
    'reward_invalid',
    `The reward of ${of} is ${reward}, and what is trained with lies within ${largestReward} of 0. Scale the rewards of the verifier.`,
    { facts: { of, reward } },
  )
}

interface Statistics {
  scored: number
  mean: number | null
  spread: number | null
  /** Fewer than two, or none that differ. */
  equal: boolean
}

function statisticsOf(
  rewards: readonly (number | null)[],
  std: 'population' | 'sample',
  tolerance: number,
): Statistics {
  let [scored, least, most] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const reward of rewards) {
    if (reward === null) continue
    scored++
    if (reward < least) least = reward
    if (reward > most) most = reward
  }
  if (scored === 0) return { scored, mean: null, spread: null, equal: true }
  const range = most - least
  const noise = roundingNoise * Math.max(Math.abs(least), Math.abs(most))
  if (range <= Math.max(tolerance, noise)) return { scored, mean: least, spread: 0, equal: true }
  // In units of the range above the least, so that neither a constant added nor large rewards cost digits.
  let sum = 0
  for (const reward of rewards) if (reward !== null) sum += (reward - least) / range
  const mean = sum / scored
  let squares = 0
  for (const reward of rewards) if (reward !== null) squares += ((reward - least) / range - mean) ** 2
  const spread = range * Math.sqrt(squares / (std === 'sample' ? scored - 1 : scored))
  return { scored, mean: least + range * mean, spread, equal: false }
}
