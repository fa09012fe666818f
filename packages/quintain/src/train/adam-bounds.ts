import { QuintainError } from '../core/errors.ts'
import type { AdamParams } from './engine.ts'

/**
 * The square of a gradient below 3.7e-23 is 0 in fp32, whose least number is 1.4e-45. An eps of that size or less would divide
 * by next to nothing there, and 0 by 0 where it is none.
 */
const leastEps = 1e-22

const bounds = {
  learningRate: [0, 10],
  beta1: [0, 1 - 1e-9],
  beta2: [0, 1 - 1e-9],
  eps: [leastEps, 1],
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
