import { klEstimate } from './kl.ts'
import { logRatio } from './losses-token.ts'
import type { Algorithm } from './records.ts'
import type { RowDatum } from './row-datum.ts'

/**
 * KL in the reward: each token loses `coefficient` times its own estimate of KL(sampler, reference), less the mean of these
 * over all tokens, so that the whole is only shifted between tokens. A token answers for its own divergence, not for that
 * which it leads to.
 */
export function addKlPenalty(
  rows: readonly RowDatum[],
  reference: readonly Float32Array[],
  { coefficient, estimator }: NonNullable<Algorithm['kl']>,
): void {
  let [sum, tokens] = [0, 0]
  const estimates = rows.map(({ weights, logprobs }, at) =>
    weights.map((weight, t) => {
      if (weight === 0) return 0
      const estimate = klEstimate(estimator, logprobs[t]!, reference[at]![t]!)
      sum += estimate
      tokens++
      return estimate
    }),
  )
  const mean = tokens === 0 ? 0 : sum / tokens
  for (const [at, { weights, advantages }] of rows.entries()) {
    for (let t = 0; t < weights.length; t++) {
      if (weights[t] !== 0) advantages[t]! -= coefficient * (estimates[at]![t]! - mean)
    }
  }
}

/**
 * On-policy distillation: `coefficient` times log teacher - log sampler is added to the advantage of each token, which is a
 * sample of the reverse KL (arXiv 2306.13649), with nothing of later tokens.
 */
export function addTeacher(
  { weights, advantages, logprobs }: RowDatum,
  teacher: Float32Array,
  coefficient: number,
): void {
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] !== 0) advantages[t]! += coefficient * logRatio(teacher[t]!, logprobs[t]!)
  }
}

/**
 * Truncated importance sampling: the advantage of a token is weighed by how much likelier the learner before the step makes
 * it than the sampler did, `most` at most, and from then on the loss compares with that learner. So staleness and the
 * sampler's other arithmetic are weighed, and only the step itself is clipped. Truncating is a bias towards the sampler.
 */
export function truncateImportance(
  { weights, advantages, logprobs }: RowDatum,
  learner: Float32Array,
  most: number,
): void {
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue
    advantages[t]! *= Math.min(most, Math.exp(logRatio(learner[t]!, logprobs[t]!)))
    logprobs[t] = learner[t]!
  }
}
