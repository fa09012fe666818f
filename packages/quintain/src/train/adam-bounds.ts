import { QuintainError } from '../core/errors.ts'
import type { AdamParams } from './engine.ts'

const bounds = {
  learningRate: [0, 10],
  beta1: [0, 1 - 1e-9],
  beta2: [0, 1 - 1e-9],
  eps: [0, 1],
  weightDecay: [0, 100],
  gradClipNorm: [0, Number.MAX_VALUE],
} as const

/** Throws `options_invalid` for a number of the optimiser that no training survives: infinite, negative, or far too large. */
export function checkAdam(adam: Required<AdamParams>): void {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const value = adam[name as keyof typeof bounds]
    if (value >= least && value <= most) continue
    throw new QuintainError(
      'options_invalid',
      `${name} of the optimiser is ${value}, and must lie from ${least} to ${most}.`,
      { facts: { name, value } },
    )
  }
}
