import { QuintainError } from '../core/index.ts'
import type { Datum, LossFunction } from './engine.ts'
import type { LossNumbers } from './loss-config.ts'

/** Beyond it a ratio says that the two policies have nothing to do with each other, and would only overflow. */
export const mostLogRatio = 20

/** log r of a token, held to ±20. */
export function logRatio(learner: number, sampler: number): number {
  return Math.max(-mostLogRatio, Math.min(mostLogRatio, learner - sampler))
}

/** The arrays that a loss needs, or `datum_invalid`. */
export function needed(
  data: readonly Datum[],
  at: number,
  name: 'weights' | 'advantages' | 'logprobs' | 'reference',
  loss: string,
): Float32Array {
  const values = data[at]![name]
  if (values !== undefined) return values
  throw new QuintainError('datum_invalid', `datum ${at} has no ${name}, which the loss ${loss} needs.`, {
    facts: { datum: at, loss, missing: name },
  })
}

/** -sum w l. */
export const crossEntropy: LossFunction = (data, logprobs) => {
  let loss = 0
  let tokens = 0
  const gradients = data.map(({ target }, at) => {
    const weights = needed(data, at, 'weights', 'cross_entropy')
    const gradient = new Float32Array(target.length)
    for (let t = 0; t < target.length; t++) {
      const weight = weights[t]!
      if (weight === 0) continue
      tokens++
      loss -= weight * logprobs[at]![t]!
      gradient[t] = -weight
    }
    return gradient
  })
  return { loss, gradients, metrics: { 'tokens:sum': tokens } }
}

/** A token that is trained on. */
interface Token {
  /** Log-probability under the learner, and as the sampler gave it. */
  l: number
  q: number
  /** exp(l - q), and its derivative by l: itself, or 0 where l - q is held. */
  ratio: number
  slope: number
  advantage: number
  /** Of the normalisation; 1 where the datum has no weights. */
  weight: number
}

/** What a loss says of a token: its part of the sum, the derivative of that by l, and whether it was clipped or masked. */
interface Term {
  loss: number
  gradient: number
  clipped: boolean
}

/** A loss that is a sum over tokens, each seen by itself. `term` fills in what it is given, which is made once. */
function overTokens(name: string, term: (token: Token, to: Term) => void): LossFunction {
  return (data, logprobs) => {
    const token: Token = { l: 0, q: 0, ratio: 1, slope: 1, advantage: 0, weight: 1 }
    const to: Term = { loss: 0, gradient: 0, clipped: false }
    const seen = new RatioMetrics()
    let loss = 0
    const gradients = data.map(({ target, weights }, at) => {
      const advantages = needed(data, at, 'advantages', name)
      const sampled = needed(data, at, 'logprobs', name)
      const gradient = new Float32Array(target.length)
      for (let t = 0; t < target.length; t++) {
        token.advantage = advantages[t]!
        token.weight = weights === undefined ? 1 : weights[t]!
        // A token of advantage 0 says nothing of rewards; its logprob may mean nothing where it was not sampled.
        if (token.advantage === 0) continue
        token.l = logprobs[at]![t]!
        token.q = sampled[t]!
        token.ratio = Math.exp(logRatio(token.l, token.q))
        token.slope = Math.abs(token.l - token.q) > mostLogRatio ? 0 : token.ratio
        to.clipped = false
        term(token, to)
        loss += to.loss
        gradient[t] = to.gradient
        seen.add(token.l, token.q, token.ratio, to.clipped)
      }
      return gradient
    })
    return { loss, gradients, metrics: seen.metrics() }
  }
}

/** What losses of ratios count of the tokens that they train on. */
export class RatioMetrics {
  private tokens = 0
  private clipped = 0
  private sum = 0
  private most = 0
  private least = Number.POSITIVE_INFINITY
  private k1 = 0
  private k2 = 0

  add(l: number, q: number, ratio: number, clipped: boolean): void {
    this.tokens++
    if (clipped) this.clipped++
    this.sum += ratio
    if (ratio > this.most) this.most = ratio
    if (ratio < this.least) this.least = ratio
    this.k1 += q - l
    this.k2 += (q - l) ** 2 / 2
  }

  /**
   * `tokens`, `clipped` (or masked), `ratio`; `mismatch_k1` and `_k2` are log q - log l and half its square, summed: KL of the
   * sampler from the learner by two estimators.
   */
  metrics(): Record<string, number> {
    if (this.tokens === 0) return { 'tokens:sum': 0, 'clipped:sum': 0 }
    return {
      'tokens:sum': this.tokens,
      'clipped:sum': this.clipped,
      'ratio:sum': this.sum,
      'ratio:max': this.most,
      'ratio:min': this.least,
      'mismatch_k1:sum': this.k1,
      'mismatch_k2:sum': this.k2,
    }
  }
}

/** -sum r A. */
export const importanceSampling = overTokens('importance_sampling', ({ ratio, slope, advantage }, to) => {
  to.loss = -ratio * advantage
  to.gradient = -slope * advantage
})

/** Bounds of a ratio, absolute as Tinker has them: 0.8, not 0.2. */
export const clipNumbers = ({ low, high }: { low: number; high: number }): LossNumbers => ({
  clip_low_threshold: { default: low, least: 0, most: 1 },
  clip_high_threshold: { default: high, least: 1, most: Number.MAX_VALUE },
})

export const ppoNumbers: LossNumbers = {
  ...clipNumbers({ low: 0.8, high: 1.2 }),
  /** Most that the ratio counts of a token of negative advantage (arXiv 1912.09729); off when absent. */
  dual_clip: { default: 'off', least: 1, most: Number.MAX_VALUE },
}

/**
 * -sum min(r A, clip(r, low, high) A): a token is let go once its ratio has left the bounds in the direction of its
 * advantage, and pulled back from the other side.
 */
export function ppo(config: Readonly<Record<string, number>>): LossFunction {
  const { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2, dual_clip } = config
  return overTokens('ppo', ({ ratio, slope, advantage }, to) => {
    const bound = advantage > 0 ? high : low
    to.clipped = advantage > 0 ? ratio > high : ratio < low
    to.loss = -(to.clipped ? bound : ratio) * advantage
    to.gradient = to.clipped ? 0 : -slope * advantage
    if (dual_clip !== undefined && advantage < 0 && ratio > dual_clip) {
      to.clipped = true
      to.loss = -dual_clip * advantage
      to.gradient = 0
    }
  })
}

/** -sum stop(clip(r, low, high)) A l: the ratio is a weight that is bounded, and no token loses its gradient. */
export function cispo(config: Readonly<Record<string, number>>): LossFunction {
  const { clip_low_threshold: low = 0, clip_high_threshold: high = 5 } = config
  return overTokens('cispo', ({ l, ratio, advantage }, to) => {
    const weight = Math.max(low, Math.min(high, ratio))
    to.clipped = weight !== ratio
    to.loss = -weight * advantage * l
    to.gradient = -weight * advantage
  })
}

export const droNumbers: LossNumbers = {
  beta: { default: 0.05, least: 0, most: Number.MAX_VALUE },
}

/** -sum A l - w beta/2 (l - q)^2: no ratio, a quadratic pull to the sampler instead. */
export function dro(config: Readonly<Record<string, number>>): LossFunction {
  const { beta = 0.05 } = config
  return overTokens('dro', ({ l, q, advantage, weight }, to) => {
    const difference = l - q
    to.loss = -(advantage * l - (weight * beta * difference ** 2) / 2)
    to.gradient = -(advantage - weight * beta * difference)
  })
}

export const dppoNumbers: LossNumbers = {
  /** Most that the probability of a token may fall below, or rise above, the sampler's. */
  mask_low: { default: 0.2, least: 0, most: 1 },
  mask_high: { default: 0.2, least: 0, most: 1 },
}

/**
 * -sum r A over the tokens that are not masked. Masked is one whose probability, not its ratio, has left the sampler's by
 * more than the bound in the direction of its advantage: rare tokens are free to move, frequent ones are not.
 */
export function dppo(config: Readonly<Record<string, number>>): LossFunction {
  const { mask_low = 0.2, mask_high = 0.2 } = config
  return overTokens('dppo', ({ l, q, ratio, slope, advantage }, to) => {
    const moved = Math.exp(l) - Math.exp(q)
    to.clipped = advantage > 0 ? moved > mask_high : moved < -mask_low
    to.loss = to.clipped ? 0 : -ratio * advantage
    to.gradient = to.clipped ? 0 : -slope * advantage
  })
}
