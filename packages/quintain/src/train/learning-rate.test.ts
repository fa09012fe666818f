import { expect, test } from 'vitest'
import { learningRateAt } from './learning-rate.ts'

test('the rate falls on a straight line to the share that is left at the end, and no further', () => {
  const rates = [0, 0.25, 1, 1.5].map((progress) =>
    learningRateAt({ learningRate: 0.8, decayTo: 0.5 }, progress),
  )
  for (const [at, rate] of [0.8, 0.7, 0.4, 0.4].entries()) expect(rates[at]).toBeCloseTo(rate, 12)
  expect(learningRateAt({ learningRate: 0.8, decayTo: 0.1 }, 1)).toBeCloseTo(0.08, 12)
})
