import { QuintainError } from '../../packages/quintain/src/core/index.ts'
import {
  type AdvantageOptions,
  batchAdvantages,
  finiteReward,
  type GroupAdvantages,
} from '../../packages/quintain/src/train/index.ts'
import type { Ops } from './runner/case.ts'

type Input = Record<string, unknown>
type Rewards = readonly (number | null)[]

/**
 * What a case says of how advantages are made. A spread divides where the case names one or wants it, and where it says
 * nothing at all, since that is what GRPO is.
 */
function optionsOf({ std, eps, baseline, normalize }: Input): AdvantageOptions {
  const divides = normalize === undefined ? std !== undefined || baseline === undefined : normalize === true
  return {
    scale: divides ? 'group_std' : 'none',
    ...(std === 'sample' || std === 'population' ? { std } : {}),
    ...(typeof eps === 'number' ? { eps } : {}),
    ...(baseline === 'leave_one_out' || baseline === 'mean' || baseline === 'none' ? { baseline } : {}),
  }
}

function told({ advantages, masked, zeroVariance }: GroupAdvantages) {
  return {
    advantages,
    masked,
    zero_variance: zeroVariance,
    finite: advantages.every((advantage) => Number.isFinite(advantage)),
    abs_max: Math.max(0, ...advantages.map(Math.abs)),
  }
}

/** A value of a case: numbers that JSON has no word for stand there by name. */
function numberOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('non_finite' in given)) return given
  const name = String(given.non_finite).toLowerCase()
  if (name.includes('nan')) return Number.NaN
  return name.startsWith('-') || name.includes('neg') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

function isAccepted(given: unknown): boolean {
  try {
    finiteReward(numberOf(given), 'the case')
    return true
  } catch (error) {
    if (QuintainError.isInstance(error) && error.code === 'reward_invalid') return false
    throw error
  }
}

export const ops: Ops = {
  'grpo.advantage': (input) => told(batchAdvantages([input['rewards'] as Rewards], optionsOf(input))[0]!),
  'grpo.advantage.groups': (input) => {
    const groups = input['groups'] as Record<string, Rewards>
    const found = batchAdvantages(Object.values(groups), optionsOf(input))
    const named = Object.keys(groups).map((name, at) => [name, found[at]!] as const)
    return {
      advantages: Object.fromEntries(named.map(([name, { advantages }]) => [name, advantages])),
      masked: Object.fromEntries(named.map(([name, { masked }]) => [name, masked])),
    }
  },
  'reward.validate': ({ value }) => ({ accepted: isAccepted(value) }),
  'reward.validate.batch': ({ values }) => ({ accepted: (values as unknown[]).map(isAccepted) }),
}
