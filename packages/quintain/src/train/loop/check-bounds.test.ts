import { expect, test } from 'vitest'
import { recipe } from '../recipes.ts'
import { checkBounds } from './check-bounds.ts'

const ordinary = { steps: 160, algorithm: recipe('grpo') }

test('an ordinary training is within its bounds, ahead of itself or not', () => {
  checkBounds(ordinary)
  checkBounds({ ...ordinary, concurrency: 512, mode: { async: 4 } })
  checkBounds({ ...ordinary, stragglers: { policy: 'over_order', extra: 8 } })
  checkBounds({ steps: 1_000_000, algorithm: { groups: 65_536, groupSize: 2, refill: 1 } })
})

test.each([
  ['groups', { algorithm: { groups: 1e8, groupSize: 16, refill: 1 } }, /1,600,000,000 rollouts .*131,072/],
  ['group size', { algorithm: { groups: 1, groupSize: 2 ** 40, refill: 1 } }, /groups of 1,099,511,627,776/],
  ['refills', { algorithm: { groups: 4_000, groupSize: 16, refill: 3 } }, /3 times as many/],
  ['steps ahead', { mode: { async: 1e6 } }, /1,000,000 steps ahead/],
  ['stragglers', { stragglers: { policy: 'over_order', extra: 1e9 } }, /1,000,000,000 groups more/],
  ['steps', { steps: 1e9 }, /from 1 to 1,000,000/],
  ['steps that are no number', { steps: Number.NaN }, /from 1 to/],
  ['concurrency', { concurrency: 1e12 }, /from 1 to 65,536/],
] as const)('is refused without bounds: %s', (_, changes, says) => {
  expect(() => checkBounds({ ...ordinary, ...changes })).toThrow(
    expect.objectContaining({ code: 'options_invalid', message: expect.stringMatching(says) }),
  )
})
