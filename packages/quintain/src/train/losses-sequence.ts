import type { Datum, LossFunction } from './engine.ts'
import { logRatio, needed, RatioMetrics } from './losses-token.ts'

/**
 * GSPO (arXiv 2507.18071, token form of its section 4.3): -sum min(s A, clip(s, low, high) A), where s = exp of the mean of
 * l - q over the trained tokens of a sequence. A sequence is a unit of datums, so that a rollout of several rows has one
 * ratio; a datum without a unit is its own. Trained are the tokens whose weight, or where there are no weights whose
 * advantage, is not 0.
 */
export function gspo(config: Readonly<Record<string, number>>): LossFunction {
  const { clip_low_threshold: low = 1 - 3e-4, clip_high_threshold: high = 1 + 4e-4 } = config
  return (data, logprobs) => {
    const gradients = data.map(({ target }) => new Float32Array(target.length))
    const seen = new RatioMetrics()
    let loss = 0
    for (const sequence of unitsOf(data)) {
      let sum = 0
      let tokens = 0
      for (const at of sequence) {
        const sampled = needed(data, at, 'logprobs', 'gspo')
        const counts = data[at]!.weights ?? needed(data, at, 'advantages', 'gspo')
        for (let t = 0; t < counts.length; t++) {
          if (counts[t] === 0) continue
          sum += logRatio(logprobs[at]![t]!, sampled[t]!)
          tokens++
        }
      }
      if (tokens === 0) continue
      const ratio = Math.exp(sum / tokens)
      for (const at of sequence) {
        const advantages = needed(data, at, 'advantages', 'gspo')
        const sampled = needed(data, at, 'logprobs', 'gspo')
        for (let t = 0; t < advantages.length; t++) {
          const advantage = advantages[t]!
          if (advantage === 0) continue
          const clipped = advantage > 0 ? ratio > high : ratio < low
          loss -= advantage * (clipped ? (advantage > 0 ? high : low) : ratio)
          gradients[at]![t] = clipped ? 0 : -ratio * advantage
          seen.add(logprobs[at]![t]!, sampled[t]!, ratio, clipped)
        }
      }
    }
    return { loss, gradients, metrics: seen.metrics() }
  }
}

/** Places of datums that a loss sees together: neighbours of one unit, and each that has none. */
export function unitsOf(data: readonly Datum[]): number[][] {
  const units: number[][] = []
  let last: number | undefined
  for (const [at, { unit }] of data.entries()) {
    if (unit !== undefined && unit === last) units.at(-1)!.push(at)
    else units.push([at])
    last = unit
  }
  return units
}
