import { expect, test } from 'vitest'
import { tokenRow } from './__fixtures__/token-row.ts'
import { type GradedGroup, type GradedRollout, refillOf, sortGroups } from './groups.ts'
import { recipe } from './recipes.ts'

const row = tokenRow([{ put: [1, 2], sampled: [3, 4] }])

function group(rewards: readonly (number | null)[], more: Partial<GradedRollout> = {}): GradedGroup {
  const members = rewards.map((reward, at) => ({
    order: `task#${at}`,
    rows: [row],
    reward,
    truncated: false,
    tokens: 2,
    ...more,
  }))
  return { id: 'g', task: 'task', members }
}

const why = (one: GradedGroup, algorithm = recipe('grpo')) =>
  sortGroups([one], algorithm).left[0]?.why ?? 'kept'

test('groups without a difference are left out, by why', () => {
  expect(why(group([1, 0]))).toBe('kept')
  expect(why(group([1, 1, null]))).toBe('zero_variance')
  expect(why(group([0.3, 0.1 + 0.2]))).toBe('zero_variance')
  expect(why(group([1, null]))).toBe('short')
  expect(why(group([null, null]))).toBe('unscored')
  expect(why(group([1, 0], { rows: [] }))).toBe('untrainable')
  expect(why(group([1, 0], { truncated: true }))).toBe('kept')
  expect(why(group([1, 0], { truncated: true }), recipe('dapo'))).toBe('untrainable')
  expect(why(group([1, 1]), recipe('grpo', { filterZeroVariance: false }))).toBe('kept')
  expect(why(group([1, 1.01]), recipe('grpo', { tolerance: 0.1 }))).toBe('zero_variance')
})

test('a teacher needs no rewards, and process rewards tell members of equal reward apart', () => {
  expect(why(group([null, null]), recipe('distill'))).toBe('kept')
  const turns = recipe('grpo', { turns: { coefficient: 0.3, discount: 0 } })
  const equal = group([1, 1])
  expect(why(equal, turns)).toBe('zero_variance')
  const told = { ...equal, members: equal.members.map((member, at) => ({ ...member, steps: [at] })) }
  expect(why(told, turns)).toBe('kept')
  expect(why(told)).toBe('zero_variance')
})

test('rewards that are none, and rows that train nothing, are refused by their order', () => {
  expect(() => why(group([1, Number.NaN]))).toThrow(
    expect.objectContaining({ code: 'reward_invalid', message: expect.stringContaining('order task#1') }),
  )
  expect(() => why(group([0, -1e308]))).toThrow('The reward of order task#1 is -1e+308')
  expect(() => why(group([1, 0], { steps: [0, Number.POSITIVE_INFINITY] }))).toThrow('turn 1 of order task#0')
  const empty = tokenRow([{ put: [1, 2, 3], sampled: [] }])
  const first = tokenRow([{ put: [], sampled: [1] }])
  for (const rows of [[row, { ...empty, row: 1 }], [{ ...first, row: 1 }]]) {
    expect(() => why(group([1, 0], { rows }))).toThrow(
      expect.objectContaining({
        code: 'datum_invalid',
        message: expect.stringContaining('Row 1 of order task#0'),
      }),
    )
  }
})

test('as many groups are ordered again as are missing, within the budget', () => {
  const algorithm = recipe('dapo', { groups: 10, refill: 2 })
  expect(refillOf(algorithm, { kept: 10, ordered: 10 })).toBe(0)
  expect(refillOf(algorithm, { kept: 6, ordered: 10 })).toBe(4)
  expect(refillOf(algorithm, { kept: 2, ordered: 15 })).toBe(5)
  expect(refillOf(algorithm, { kept: 0, ordered: 20 })).toBe(0)
})
