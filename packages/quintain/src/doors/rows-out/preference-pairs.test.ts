import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Chosen } from './choose-attempts.ts'
import { pairsOf } from './preference-pairs.ts'

const attempts = (rewards: readonly (number | null)[]) =>
  rewards.map((reward, seq) => ({ reward, success: null, order: { seq } }) as unknown as Chosen)

function paired(rewards: readonly (number | null)[], margin = 0) {
  let left = 0
  const pairs = pairsOf(attempts(rewards), { margin, filter: { kind: 'all' } }, () => {
    left++
  })
  return { pairs, left }
}

/** The most pairs that there are, by trying all of them. */
function mostPairs(rewards: readonly number[], margin: number): number {
  const [first, ...rest] = rewards
  if (first === undefined) return 0
  let most = mostPairs(rest, margin)
  for (const [at, other] of rest.entries()) {
    const difference = Math.abs(first - other)
    if (difference > 0 && difference >= margin)
      most = Math.max(most, 1 + mostPairs([...rest.slice(0, at), ...rest.slice(at + 1)], margin))
  }
  return most
}

test('pairs are as many as can be, each attempt in one, all of them by the margin', () => {
  const reward = fc.integer({ min: 0, max: 4 }).map((fifths) => fifths / 4)
  fc.assert(
    fc.property(fc.array(reward, { maxLength: 7 }), fc.constantFrom(0, 0.5, 1), (rewards, margin) => {
      const { pairs, left } = paired(rewards, margin)
      expect(pairs).toHaveLength(mostPairs(rewards, margin))
      expect(left).toBe(rewards.length - 2 * pairs.length)
      const used = pairs.flatMap(({ chosen, rejected }) => [chosen.order.seq, rejected.order.seq])
      expect(new Set(used).size).toBe(used.length)
      for (const { chosen, rejected } of pairs)
        expect(chosen.reward! - rejected.reward!).toBeGreaterThanOrEqual(Math.max(margin, Number.MIN_VALUE))
    }),
  )
})

test('what has no reward is in no pair', () => {
  const { pairs, left } = paired([null, 1, null, 0])
  expect(pairs.map(({ chosen, rejected }) => [chosen.order.seq, rejected.order.seq])).toEqual([[1, 3]])
  expect(left).toBe(2)
})
