import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Datum } from './engine.ts'
import { klEstimate } from './kl.ts'
import { resolveLoss } from './losses.ts'

const logits = fc.array(
  fc.integer({ min: -20, max: 20 }).map((tenths) => tenths / 10),
  { minLength: 4, maxLength: 4 },
)

function normalised(given: readonly number[]): number[] {
  const total = Math.log(given.reduce((sum, logit) => sum + Math.exp(logit), 0))
  return given.map((logit) => logit - total)
}

const klOf = (p: readonly number[], q: readonly number[]) =>
  p.reduce((sum, logprob, id) => sum + Math.exp(logprob) * (logprob - q[id]!), 0)

/** Gradient by the logits of a policy, by differences. */
function slopes(given: readonly number[], value: (policy: readonly number[]) => number): number[] {
  return given.map((_, at) => {
    const moved = (by: number) =>
      value(normalised(given.map((logit, id) => (id === at ? logit + by : logit))))
    return (moved(1e-5) - moved(-1e-5)) / 2e-5
  })
}

/** Gradient by the logits of the loss's KL term, in the mean over what the policy would sample. */
function meanSlopes(policy: readonly number[], reference: readonly number[], kl_estimator: number): number[] {
  const data = policy.map(
    (logprob, id): Datum => ({
      input: Int32Array.of(0),
      target: Int32Array.of(id),
      weights: Float32Array.of(Math.exp(logprob)),
      advantages: Float32Array.of(0),
      logprobs: Float32Array.of(logprob),
      reference: Float32Array.of(reference[id]!),
    }),
  )
  const loss = resolveLoss({ name: 'importance_sampling', config: { kl_coefficient: 1, kl_estimator } })
  const { gradients } = loss(
    data,
    policy.map((logprob) => Float32Array.of(logprob)),
  )
  return policy.map((logprob, id) =>
    gradients.reduce(
      (sum, [slope], sampled) => sum + slope! * ((sampled === id ? 1 : 0) - Math.exp(logprob)),
      0,
    ),
  )
}

test('k1 and k3 are the KL in the mean; k2 and k3 are never negative', () => {
  fc.assert(
    fc.property(logits, logits, (one, other) => {
      const [policy, reference] = [normalised(one), normalised(other)]
      const mean = (estimator: 'k1' | 'k3') =>
        policy.reduce(
          (sum, logprob, id) => sum + Math.exp(logprob) * klEstimate(estimator, logprob, reference[id]!),
          0,
        )
      expect(mean('k1')).toBeCloseTo(klOf(policy, reference), 9)
      expect(mean('k3')).toBeCloseTo(klOf(policy, reference), 9)
      for (const [id, logprob] of policy.entries()) {
        expect(klEstimate('k2', logprob, reference[id]!)).toBeGreaterThanOrEqual(0)
        expect(klEstimate('k3', logprob, reference[id]!)).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('as a loss k2 goes down the KL from the policy, k3 that to it, and k1 nowhere', () => {
  fc.assert(
    fc.property(logits, logits, (one, other) => {
      const [policy, reference] = [normalised(one), normalised(other)]
      const expected = {
        1: policy.map(() => 0),
        2: slopes(one, (moved) => klOf(moved, reference)),
        3: slopes(one, (moved) => klOf(reference, moved)),
      }
      for (const [estimator, wanted] of Object.entries(expected)) {
        const found = meanSlopes(policy, reference, Number(estimator))
        for (const [id, slope] of wanted.entries()) expect(found[id]).toBeCloseTo(slope, 4)
      }
    }),
  )
})
