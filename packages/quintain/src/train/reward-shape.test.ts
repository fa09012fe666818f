import { expect, test } from 'vitest'
import { overlongPenalty } from './reward-shape.ts'

test('a rollout loses nothing up to the buffer, then on a straight line, and never more than the penalty', () => {
  const lengths = [0, 75, 80, 90, 100, 1000]
  const overlong = { length: 100, buffer: 20, penalty: 2 }
  expect(lengths.map((length) => overlongPenalty(length, overlong))).toEqual([0, 0, 0, -1, -2, -2])
  expect(
    [99, 100, 101].map((length) => overlongPenalty(length, { length: 100, buffer: 0, penalty: 1 })),
  ).toEqual([0, 0, -1])
})
