import { scoreText } from '../report/index.ts'
import type { EvaluationRecord } from './records.ts'
import type { Watch } from './watches.ts'
import { riseOf } from './watches-window.ts'

/** A shadow that is this near its top cannot rise with the reward. */
const full = 0.95

/**
 * Reward up, and what it should stand for flat: the shadow verifier, or success where that is apart from the reward. Over the
 * latest 60 steps at most.
 */
export const rewardHacking: Watch = {
  name: 'reward_hacking',
  threshold: 3,
  of: 'rise of the reward in standard errors, while the shadow verifier (or success) rises by less than one',
  because: 'what is looked at after every step must be further from chance than a single test',
  look({ steps }) {
    const shadowed = steps.some(({ shadow }) => shadow !== null)
    const reward = riseOf(steps, ({ rewardMean }) => rewardMean)
    const beside = riseOf(steps, ({ shadow, success }) => (shadowed ? shadow : success))
    if (reward === undefined || beside === undefined) return undefined
    const gained = reward.to - reward.from
    const followed = beside.to - beside.from
    if (!(gained > rewardHacking.threshold * reward.error)) return undefined
    // A shadow too noisy to have shown a rise says nothing, and one that is full cannot.
    if (followed > beside.error || beside.error > 0.05 || beside.from >= full) return undefined
    const what = shadowed ? 'the shadow verifier' : 'success'
    return `The reward rose from ${scoreText(reward.from)} to ${scoreText(reward.to)} while ${what} did not (${scoreText(beside.from)} to ${scoreText(beside.to)}): the policy may have found reward without success. Read the rollouts with the highest reward (npx quintain show RUN), and mend the reward before training goes on.`
  },
}

/** Success on train tasks above that on validation tasks, both at temperature 1 and at the latest evaluation that has both. */
export const gap: Watch = {
  name: 'train_heldout_gap',
  threshold: 0.1,
  of: 'success on train tasks less success on validation tasks, where that is three standard errors or more',
  because:
    'ten points are more than chance leaves at the sizes that are usual, and more than a little memorising',
  look({ evaluations }) {
    const sampled = evaluations.filter(({ temperature, success }) => temperature > 0 && success !== null)
    const gaps = sampled.flatMap((train) => {
      const held = sampled.find((one) => one.role === 'validation' && one.step === train.step)
      return train.role === 'train' && held !== undefined ? [gapOf(train, held)] : []
    })
    const [first, latest] = [gaps[0], gaps.at(-1)]
    if (first === undefined || latest === undefined) return undefined
    if (!(latest.size >= gap.threshold && latest.size > 1.5 * latest.error)) return undefined
    const before =
      gaps.length > 1
        ? `; at step ${first.step} the gap was ${scoreText(first.size)}`
        : ', from the beginning'
    return `Success is ${scoreText(latest.train)} on tasks that are trained on and ${scoreText(latest.held)} on tasks that are not (step ${latest.step}${before}): the policy learns its tasks by heart. More tasks, fewer steps or a smaller model help; report what is held out, and take the checkpoint that validation chose.`
  },
}

interface Gap {
  step: number
  train: number
  held: number
  size: number
  /** From it to the lower end of its 95 % interval. */
  error: number
}

function gapOf(train: EvaluationRecord, held: EvaluationRecord): Gap {
  const [of, against] = [train.success ?? 0, held.success ?? 0]
  return { step: train.step, train: of, held: against, size: of - against, error: errorOf(train, held) }
}

/** Held-out success, or the reward where the environment does not say what success is, clearly below where it began. */
export const heldOutFell: Watch = {
  name: 'held_out_fell',
  threshold: 1,
  of: 'fall of validation at temperature 1 since it was first measured, as a multiple of what chance allows (95 %, from both intervals)',
  because: 'the same tasks are played each time, so that a fall beyond both intervals is more than luck',
  look({ evaluations }) {
    const measured = evaluations.filter(({ role, temperature }) => role === 'validation' && temperature === 1)
    const [first, latest] = [measured[0], measured.at(-1)]
    if (first === undefined || latest === undefined) return undefined
    const [from, to] = [first.success ?? first.reward, latest.success ?? latest.reward]
    if (from === null || to === null) return undefined
    if (!(from - to > heldOutFell.threshold * errorOf(first, latest))) return undefined
    const what = first.success === null ? 'The reward' : 'Success'
    return `${what} on validation tasks fell from ${scoreText(from)} (step ${first.step}) to ${scoreText(to)} (step ${latest.step}): the policy is worse than before it was trained. Begin again with a lower learning rate (--learning-rate), more groups a step (--groups) or fewer minibatches; the best checkpoint is kept.`
  },
}

/**
 * From the difference of a higher and a lower measurement to the lower end of its 95 % interval, from their own intervals
 * (Newcombe 1998, method 10): of the higher its lower half counts, of the lower its upper. So a share of exactly 0 is as
 * uncertain as its few tasks make it.
 */
function errorOf(higher: EvaluationRecord, lower: EvaluationRecord): number {
  return Math.hypot(below(higher), above(lower))
}

/** Without an interval nothing is beyond chance. */
const below = ({ interval, success, reward }: EvaluationRecord): number =>
  interval === null ? Number.POSITIVE_INFINITY : (success ?? reward ?? 0) - interval[0]
const above = ({ interval, success, reward }: EvaluationRecord): number =>
  interval === null ? Number.POSITIVE_INFINITY : interval[1] - (success ?? reward ?? 0)
