import { checkAdam } from '../adam-bounds.ts'
import type { AdamParams } from '../engine.ts'
import type { StepNumbers } from './jobs.ts'

/**
 * The numbers of a step with the engine's defaults: beta 0.9 and 0.95, eps 1e-8, no decay, no bound of the norm. Throws
 * `options_invalid` for one out of range.
 */
export function stepNumbers(adam: AdamParams, momentSteps: number): StepNumbers {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0, gradClipNorm = 0 } = adam
  const numbers = { learningRate, beta1, beta2, eps, weightDecay, gradClipNorm }
  checkAdam(numbers)
  return { ...numbers, momentSteps }
}
