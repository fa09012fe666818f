import fc from 'fast-check'
import { expect, test } from 'vitest'
import { turnAdvantages } from './turn-advantages.ts'

test('a turn is compared with the same turn of the others, and answers for what followed as far as it is discounted', () => {
  const steps = [
    [1, 0, 4],
    [0, 0],
  ]
  expect(turnAdvantages(steps, { discount: 0 })).toEqual([
    [0.5, 0, 0],
    [-0.5, 0],
  ])
  expect(turnAdvantages(steps, { discount: 1 })).toEqual([
    [2.5, 2, 0],
    [-2.5, -2],
  ])
  expect(turnAdvantages(steps, { discount: 0.5 })[0]).toEqual([1, 1, 0])
})

test('members that have no steps are left out', () => {
  expect(turnAdvantages([[1], null, [0], []], { discount: 1 })).toEqual([[0.5], [], [-0.5], []])
})

test('a constant added to a turn of all members changes nothing', () => {
  const group = fc.array(fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 3, maxLength: 3 }), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(
      group,
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: -9, max: 9 }),
      (steps, turn, constant) => {
        const shifted = steps.map((own) => own.map((one, at) => (at === turn ? one + constant : one)))
        const [before, after] = [steps, shifted].map((one) => turnAdvantages(one, { discount: 0.5 }).flat())
        for (const [at, value] of after!.entries()) expect(value).toBeCloseTo(before![at]!, 9)
      },
    ),
  )
})
