import { scoreText, shareText } from '../report/index.ts'
import type { Watch } from './watches.ts'
import { atFirst, few, lately, meanOf, valuesOf } from './watches-window.ts'

/** Success from which a policy may be sure of itself. */
const mastered = 0.9

/** Entropy all but gone, while there is still something to learn. */
export const entropyLow: Watch = {
  name: 'entropy_low',
  threshold: 0.1,
  of: 'entropy over the last steps, as a share of what it was over the first',
  because:
    'with a tenth of it left the members of a group are nearly always alike, and alike members teach nothing',
  look({ steps }) {
    const [first, now] = [atFirst(steps, 'entropy'), lately(steps, 'entropy')]
    if (first === undefined || now === undefined || !(now < entropyLow.threshold * first)) return undefined
    if ((lately(steps, 'success') ?? 0) >= mastered) return undefined
    return `Entropy is ${scoreText(now)} nats a token, ${shareText(now / first)} of what it was at first: the policy plays nearly the same way each time, so groups have little to compare. Lower the learning rate, clip higher (--recipe dapo), or go back to an earlier checkpoint; the reward may not rise much further.`
  },
}

/** Steps over which entropy is seen to fall. */
const fallSteps = 20

/** Entropy falling so fast that it will be gone before the policy has learned. */
export const entropyFalling: Watch = {
  name: 'entropy_falling',
  threshold: 0.5,
  of: `entropy over the last steps, as a share of what it was ${fallSteps} steps before`,
  because: 'at half in twenty steps a tenth is left after some seventy',
  look({ steps }) {
    const now = lately(steps, 'entropy')
    const before = meanOf(valuesOf(steps.slice(-few - fallSteps, -fallSteps), 'entropy'), few)
    if (now === undefined || before === undefined || !(now < entropyFalling.threshold * before))
      return undefined
    if ((lately(steps, 'success') ?? 0) >= mastered) return undefined
    return `Entropy fell from ${scoreText(before)} to ${scoreText(now)} nats a token in ${fallSteps} steps: the policy makes up its mind fast. If success does not rise as fast, lower the learning rate or take larger groups.`
  },
}

/** The policy far from its reference. */
export const klHigh: Watch = {
  name: 'kl',
  threshold: 0.5,
  of: 'divergence from the reference policy in nats a token, over the last steps',
  because:
    'at half a nat the tokens that are sampled are on average 1.6 times as likely as under the reference, which is then another policy',
  look({ steps }) {
    const now = lately(steps, 'kl')
    if (now === undefined || !(now > klHigh.threshold)) return undefined
    return `The policy is ${scoreText(now)} nats a token away from its reference: what the reference was good at may be lost. Raise the coefficient of the KL term or lower the learning rate, and look at held-out success.`
  },
}

/** Sampler and trainer disagree although they have the same weights. */
export const samplerMismatch: Watch = {
  name: 'sampler_mismatch',
  threshold: 1e-3,
  of: 'divergence of the sampler from the learner in nats a token, in a step whose rollouts the same weights sampled',
  because: 'the same weights give the same probabilities but for rounding: 1e-6 in 32 bits, below 1e-3 in 16',
  look({ steps }) {
    const step = steps.at(-1)
    const found = step?.mismatch
    if (step === undefined || found == null || step.staleness.max > 0) return undefined
    const size = Math.max(Math.abs(found.k1), found.k2)
    if (!(size > samplerMismatch.threshold)) return undefined
    return `The sampler's log-probabilities are not the learner's (${scoreText(size, 4)} nats a token, largest ratio ${scoreText(found.maxRatio, 2)}) although the weights are the same: the tokens trained on are not those sampled, or the two compute differently (another template, temperature or precision). The gradient is wrong until that is found; truncated importance sampling only softens it.`
  },
}

/** Rollouts that older weights sampled, too far from the learner for the importance weights to mend. */
export const offPolicy: Watch = {
  name: 'off_policy',
  threshold: 0.1,
  of: 'half the mean square of the log-ratio of sampler and learner, over the last steps',
  because:
    'at a tenth the weight of a token is off by a factor of 1.6 either way, and products over a rollout by far more',
  look({ steps }) {
    const stale = steps.slice(-few).filter(({ staleness }) => staleness.max > 0)
    const now = meanOf(
      stale.flatMap(({ mismatch }) => (mismatch === null ? [] : [mismatch.k2])),
      few,
    )
    if (now === undefined || !(now > offPolicy.threshold)) return undefined
    return `The rollouts are ${scoreText(now)} off the policy that learns from them (half the mean square of the log-ratio): importance weights are then mostly noise. Allow less staleness (--async with a smaller number, or none), fewer minibatches or epochs, or a lower learning rate.`
  },
}
