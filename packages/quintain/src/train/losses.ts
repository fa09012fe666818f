import { didYouMean, QuintainError } from '../core/index.ts'
import type { LossFunction, LossSpec } from './engine.ts'
import { klNumbers, withKl } from './kl.ts'
import { type LossNumbers, lossConfig } from './loss-config.ts'
import { dpo, dpoNumbers } from './losses-preference.ts'
import { gspo } from './losses-sequence.ts'
import {
  cispo,
  clipNumbers,
  crossEntropy,
  dppo,
  dppoNumbers,
  dro,
  droNumbers,
  importanceSampling,
  ppo,
  ppoNumbers,
} from './losses-token.ts'

/** A loss by name: its numbers, and how it is made of them. */
export interface NamedLoss {
  /** What it is, in a line. */
  is: string
  numbers: LossNumbers
  make: (config: Readonly<Record<string, number>>) => LossFunction
}

/**
 * The losses by name. Names and numbers of the first five are Tinker's, and so is what they give: everything sums, and what
 * normalises a batch has scaled weights and advantages already (`batch.ts`). In the formulas l is the log-probability under
 * the learner, q that of the sampler, r = exp(l - q) with l - q held to ±20, A the advantage and w the weight of a token.
 *
 * Losses of rewards also take `kl_coefficient` and `kl_estimator` (1, 2, 3): see `withKl`.
 */
export const losses: Readonly<Record<string, NamedLoss>> = {
  cross_entropy: { is: '-sum w l', numbers: {}, make: () => crossEntropy },
  importance_sampling: {
    is: '-sum r A',
    numbers: klNumbers,
    make: (config) => withKl(importanceSampling, config),
  },
  ppo: {
    is: '-sum min(r A, clip(r, low, high) A) (arXiv 1707.06347; clip-higher, arXiv 2503.14476)',
    numbers: { ...ppoNumbers, ...klNumbers },
    make: (config) => withKl(ppo(config), config),
  },
  cispo: {
    is: '-sum stop(clip(r, low, high)) A l (arXiv 2506.13585)',
    numbers: { ...clipNumbers({ low: 0, high: 5 }), ...klNumbers },
    make: (config) => withKl(cispo(config), config),
  },
  dro: {
    is: '-sum A l - w beta/2 (l - q)^2 (arXiv 2405.19107)',
    numbers: { ...droNumbers, ...klNumbers },
    make: (config) => withKl(dro(config), config),
  },
  gspo: {
    is: '-sum min(s A, clip(s, low, high) A), s the geometric mean of r over a sequence (arXiv 2507.18071)',
    numbers: { ...clipNumbers({ low: 1 - 3e-4, high: 1 + 4e-4 }), ...klNumbers },
    make: (config) => withKl(gspo(config), config),
  },
  dppo: {
    is: '-sum r A but where exp(l) has left exp(q) too far in the direction of A (arXiv 2602.04879, binary TV)',
    numbers: { ...dppoNumbers, ...klNumbers },
    make: (config) => withKl(dppo(config), config),
  },
  dpo: {
    is: '-sum log sigmoid(beta ((l - ref) of the better - (l - ref) of the worse)) over pairs (arXiv 2305.18290)',
    numbers: dpoNumbers,
    make: dpo,
  },
}

/**
 * The loss that a spec names, with its defaults. A function is given back as it is. Throws `options_invalid` for a name that
 * is none, and for numbers that the loss does not know, lacks, or cannot take.
 */
export function resolveLoss(loss: LossSpec | LossFunction): LossFunction {
  if (typeof loss === 'function') return loss
  const { name, config } = loss
  const found = Object.hasOwn(losses, name) ? losses[name] : undefined
  if (found === undefined) {
    const known = Object.keys(losses)
    throw new QuintainError(
      'options_invalid',
      `There is no loss "${name}"${didYouMean(name, known)} There are ${known.join(', ')}.`,
      { facts: { name, known } },
    )
  }
  return found.make(lossConfig(name, found.numbers, config))
}
