import type { LossFunction } from './engine.ts'
import type { LossNumbers } from './loss-config.ts'
import { logRatio, mostLogRatio, needed } from './losses-token.ts'
import type { Algorithm } from './records.ts'

/** Estimators of KL(learner, reference) from a token that the learner sampled. */
export type KlEstimator = NonNullable<Algorithm['kl']>['estimator']

/**
 * An estimate in nats from the log-probabilities of a sampled token. With d = log reference - log learner: k1 = -d is
 * unbiased and may be negative; k2 = d²/2; k3 = exp(d) - d - 1 is unbiased and never negative.
 *
 * Source: J. Schulman, "Approximating KL divergence" (2020).
 */
export function klEstimate(estimator: KlEstimator, learner: number, reference: number): number {
  const d = reference - learner
  if (estimator === 'k1') return -d
  if (estimator === 'k2') return (d * d) / 2
  const held = logRatio(reference, learner)
  return Math.expm1(held) - held
}

/** Its derivative by the learner's log-probability. */
function klSlope(estimator: KlEstimator, learner: number, reference: number): number {
  const d = reference - learner
  if (estimator === 'k1') return 1
  if (estimator === 'k2') return -d
  return Math.abs(d) > mostLogRatio ? 0 : -Math.expm1(d)
}

export const klNumbers: LossNumbers = {
  kl_coefficient: { default: 'off', least: 0, most: Number.MAX_VALUE },
  /** 1, 2 or 3, for k1, k2, k3; 3 when absent. */
  kl_estimator: { default: 3, least: 1, most: 3 },
}

const estimators = { 1: 'k1', 2: 'k2', 3: 'k3' } as const

/**
 * A loss with `coefficient * sum w KL` added, for datums with `weights` and `reference`. As a loss on the policy's own
 * tokens k2 has, in the mean, the gradient of KL(policy, reference), k3 that of KL(reference, policy), and k1 none: it
 * belongs into the reward (`addKlPenalty`).
 */
export function withKl(loss: LossFunction, config: Readonly<Record<string, number>>): LossFunction {
  const { kl_coefficient: coefficient, kl_estimator = 3 } = config
  if (coefficient === undefined || coefficient === 0) return loss
  const estimator = kl_estimator < 1.5 ? estimators[1] : kl_estimator < 2.5 ? estimators[2] : estimators[3]
  return (data, logprobs) => {
    const value = loss(data, logprobs)
    let [sum, penalty, tokens] = [0, 0, 0]
    for (const [at, gradient] of value.gradients.entries()) {
      const weights = needed(data, at, 'weights', 'with a KL term')
      const reference = needed(data, at, 'reference', 'with a KL term')
      for (let t = 0; t < gradient.length; t++) {
        const weight = weights[t]!
        if (weight === 0) continue
        const l = logprobs[at]![t]!
        const kl = klEstimate(estimator, l, reference[t]!)
        sum += kl
        penalty += weight * kl
        tokens++
        gradient[t]! += coefficient * weight * klSlope(estimator, l, reference[t]!)
      }
    }
    return {
      loss: value.loss + coefficient * penalty,
      gradients: value.gradients,
      metrics: { ...value.metrics, 'kl:sum': sum, 'kl_tokens:sum': tokens },
    }
  }
}
