import { QuintainError } from '../core/index.ts'
import type { Datum, LossFunction } from './engine.ts'
import type { LossNumbers } from './loss-config.ts'
import { unitsOf } from './losses-sequence.ts'
import { needed } from './losses-token.ts'

export const dpoNumbers: LossNumbers = {
  beta: { default: 0.1, least: 0, most: Number.MAX_VALUE },
  /** Share of the pairs that are thought to be the wrong way round. */
  label_smoothing: { default: 0, least: 0, most: 0.5 },
}

/**
 * DPO (arXiv 2305.18290), smoothed as its authors' conservative form. A pair is a unit of two datums with `reference`: in
 * that of the better conversation the trained tokens have a positive advantage, in the other the same negative one, whose
 * size is the weight of the pair. The log-ratios are sums over tokens, not means, so longer conversations weigh more.
 */
export function dpo(config: Readonly<Record<string, number>>): LossFunction {
  const { beta = 0.1, label_smoothing: smoothing = 0 } = config
  return (data, logprobs) => {
    const gradients = data.map(({ target }) => new Float32Array(target.length))
    let [loss, margins, right, pairs] = [0, 0, 0, 0]
    for (const unit of unitsOf(data)) {
      const [first, second] = unit.map((at) => sideOf(data, logprobs, at))
      if (unit.length !== 2 || first === undefined || second === undefined || first.sign === second.sign) {
        throw new QuintainError(
          'datum_invalid',
          `the datums ${unit.join(', ')} are no pair. Give two of one unit, side by side, one with positive and one with negative advantages.`,
          { facts: { datums: unit } },
        )
      }
      const better = first.sign > 0 ? first : second
      const worse = first.sign > 0 ? second : first
      const margin = beta * (better.sum - worse.sum)
      const weight = better.weight
      loss -= weight * ((1 - smoothing) * logSigmoid(margin) + smoothing * logSigmoid(-margin))
      // d/dmargin of the loss: sigmoid(-margin) for what is right, against it for the share that is not.
      const slope = weight * ((1 - smoothing) * sigmoid(-margin) - smoothing * sigmoid(margin))
      for (const side of [better, worse]) {
        const { advantages } = data[side.at]!
        for (let t = 0; t < advantages!.length; t++) {
          if (advantages![t] !== 0) gradients[side.at]![t] = -slope * beta * side.sign
        }
      }
      pairs++
      margins += margin
      if (margin > 0) right++
    }
    return { loss, gradients, metrics: { 'pairs:sum': pairs, 'margin:sum': margins, 'right:sum': right } }
  }
}

/** One conversation of a pair: sum of l - ref over its trained tokens. */
function sideOf(data: readonly Datum[], logprobs: readonly Float32Array[], at: number) {
  const advantages = needed(data, at, 'advantages', 'dpo')
  const reference = needed(data, at, 'reference', 'dpo')
  const weight = advantages.find((advantage) => advantage !== 0)
  if (weight === undefined) return undefined
  let sum = 0
  for (let t = 0; t < advantages.length; t++) {
    if (advantages[t] !== 0) sum += logprobs[at]![t]! - reference[t]!
  }
  return { at, sum, weight: Math.abs(weight), sign: Math.sign(weight) }
}

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))
}

function logSigmoid(x: number): number {
  return x >= 0 ? -Math.log1p(Math.exp(-x)) : x - Math.log1p(Math.exp(x))
}
