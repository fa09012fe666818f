import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AdvantageOptions, batchAdvantages, groupAdvantages } from './advantages.ts'

const reward = fc.integer({ min: -40, max: 40 }).map((eighths) => eighths / 8)
const group = fc.array(fc.option(reward, { nil: null, freq: 5 }), { minLength: 1, maxLength: 9 })
const options = fc.record({
  baseline: fc.constantFrom('mean', 'leave_one_out'),
  scale: fc.constantFrom('none', 'group_std', 'batch_std'),
  std: fc.constantFrom('population', 'sample'),
  eps: fc.constantFrom(0, 1e-6),
}) satisfies fc.Arbitrary<AdvantageOptions>

function expectClose(found: readonly number[], expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length)
  for (const [at, value] of found.entries()) expect(value).toBeCloseTo(expected[at]!, 9)
}

describe('whatever the baseline and the scale', () => {
  test('permuting a group permutes its advantages', () => {
    fc.assert(
      fc.property(group, options, fc.integer(), (rewards, how, seed) => {
        const order = rewards.map((_, at) => at).sort((a, b) => ((a * 31 + seed) % 7) - ((b * 31 + seed) % 7))
        const { advantages } = groupAdvantages(rewards, how)
        const permuted = groupAdvantages(
          order.map((at) => rewards[at]!),
          how,
        )
        expectClose(
          permuted.advantages,
          order.map((at) => advantages[at]!),
        )
      }),
    )
  })

  test('a constant added to all rewards changes nothing', () => {
    fc.assert(
      fc.property(group, options, fc.integer({ min: -1000, max: 1000 }), (rewards, how, constant) => {
        const shifted = rewards.map((one) => (one === null ? null : one + constant))
        const [before, after] = [groupAdvantages(rewards, how), groupAdvantages(shifted, how)]
        expectClose(after.advantages, before.advantages)
        expect(after.zeroVariance).toBe(before.zeroVariance)
      }),
    )
  })

  test('advantages of a group add up to nothing, and members without a reward are as if they were not there', () => {
    fc.assert(
      fc.property(group, options, (rewards, how) => {
        const { advantages, masked, scored } = groupAdvantages(rewards, how)
        expect(advantages.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 9)
        expect(masked).toEqual(rewards.map((one) => one === null))
        const alone = groupAdvantages(
          rewards.filter((one) => one !== null),
          how,
        )
        expect(advantages.filter((_, at) => rewards[at] !== null)).toEqual(alone.advantages)
        expect(scored).toBe(alone.advantages.length)
      }),
    )
  })

  test('equal rewards give exactly nothing, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 1, max: 6 }),
        options,
        (value, size, how) => {
          const found = groupAdvantages(
            Array.from({ length: size }, () => value),
            how,
          )
          expect(found.advantages.every((one) => one === 0)).toBe(true)
          expect(found.zeroVariance).toBe(true)
        },
      ),
    )
  })
})

test('the spread is that which was asked for', () => {
  expectClose(groupAdvantages([1, 0, 0, 0], { scale: 'group_std' }).advantages, [
    Math.sqrt(3),
    ...Array(3).fill(-1 / Math.sqrt(3)),
  ])
  expectClose(
    groupAdvantages([1, 0, 0, 0], { scale: 'group_std', std: 'sample' }).advantages,
    [1.5, -0.5, -0.5, -0.5],
  )
  const [first, second] = batchAdvantages(
    [
      [2, 6],
      [4, 8, 0],
    ],
    { scale: 'batch_std' },
  )
  // All five lie round 4 with a spread of sqrt(8).
  expectClose(first!.advantages, [-2 / Math.sqrt(8), 2 / Math.sqrt(8)])
  expectClose(second!.advantages, [0, 4 / Math.sqrt(8), -4 / Math.sqrt(8)])
})

test('the mean of the others is taken off, which is n / (n - 1) of the difference to the mean of all', () => {
  expectClose(groupAdvantages([1, 0, 0, 0], { baseline: 'leave_one_out' }).advantages, [
    1,
    -1 / 3,
    -1 / 3,
    -1 / 3,
  ])
})

test('a group of one has advantage 0, and its reward where nothing is taken off', () => {
  expect(groupAdvantages([0.7])).toMatchObject({ advantages: [0], zeroVariance: true, scored: 1 })
  expect(groupAdvantages([0.7], { baseline: 'leave_one_out', scale: 'group_std' }).advantages).toEqual([0])
  expect(groupAdvantages([0.7, 0.7], { baseline: 'none' }).advantages).toEqual([0.7, 0.7])
  expect(groupAdvantages([null, null])).toMatchObject({ advantages: [0, 0], mean: null, scored: 0 })
})

test('noise of rounding is no signal, at any size; what is above the tolerance is one', () => {
  const noisy = groupAdvantages([0.1 + 0.2, 0.3, 0.3, 0.3], { scale: 'group_std' })
  expect(noisy).toMatchObject({ advantages: [0, 0, 0, 0], zeroVariance: true })
  const large = [1e9 / 3 + 1e9 / 3, (2 * 1e9) / 3].map((one, at) => one + at * 1e-4)
  expect(groupAdvantages(large, { tolerance: 0 }).zeroVariance).toBe(true)
  expect(groupAdvantages([1e9, 1e9 + 1], { scale: 'group_std' }).advantages).toEqual([-1, 1])
  expect(groupAdvantages([0.5, 0.52], { tolerance: 0.05 }).zeroVariance).toBe(true)
  expect(groupAdvantages([0.5, 0.52], { tolerance: 0.01 }).zeroVariance).toBe(false)
})

test('what is no finite number is refused by its place', () => {
  expect(() => batchAdvantages([[0], [1, Number.NaN]])).toThrow(
    expect.objectContaining({
      code: 'reward_invalid',
      message: expect.stringContaining('member 1 of group 1'),
    }),
  )
  expect(() => groupAdvantages([Number.POSITIVE_INFINITY])).toThrow(
    expect.objectContaining({ code: 'reward_invalid' }),
  )
  expect(() => groupAdvantages([1.7e308, -1.7e308])).toThrow(
    expect.objectContaining({ code: 'reward_invalid' }),
  )
})
