import { describe, expect, test } from 'vitest'
import { estimate, largestReward } from './estimate.ts'

const all = (score: number) => Array.from({ length: 20 }, () => [score])

describe('the interval of rewards that are all alike', () => {
  test('is that of a rate where one is the most there can be', () => {
    const found = estimate('mean', all(0), { largest: 1 })
    expect(found.method).toMatch(/Wilson/)
    expect(found.interval![1]).toBeCloseTo(0.161, 3)
  })

  test('is none where a reward may be more, since all zeros say nothing of how far', () => {
    for (const largest of [1.2, undefined]) {
      for (const score of [0, 1]) {
        expect(estimate('mean', all(score), { largest })).toMatchObject({
          value: score,
          interval: null,
          reason: 'no_spread',
        })
      }
    }
  })

  test('is that of a rate where both zeros and ones were seen', () => {
    const found = estimate('mean', [...all(0), ...all(1)], { largest: undefined })
    expect(found.method).toMatch(/Wilson/)
  })
})

test('the most that a reward can be is the sum of its weights, and unknown where a part counts against it', () => {
  expect(largestReward({ solved: { weight: 1 }, conduct: { weight: 0.2 } })).toBeCloseTo(1.2)
  expect(largestReward({ solved: { weight: 1 }, length: { weight: -0.1 } })).toBeUndefined()
})
