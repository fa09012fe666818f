import { expect, test } from 'vitest'
import { padRow } from './pad-row.ts'

const row = {
  ids: Int32Array.of(5, 9, 2),
  mask: Uint8Array.of(0, 1, 1),
  logprobs: Float32Array.of(0, -1, -2),
}

test('padding is told by length, though it is the token that ends a turn', () => {
  const { ids, mask, logprobs, attention } = padRow(row, { length: 5, pad: 2 })
  expect([[...ids], [...mask], [...logprobs], [...attention]]).toEqual([
    [5, 9, 2, 2, 2],
    [0, 1, 1, 0, 0],
    [0, -1, -2, 0, 0],
    [1, 1, 1, 0, 0],
  ])
  expect(padRow(row, { length: 3, pad: 0 }).attention).toEqual(Uint8Array.of(1, 1, 1))
})

test('a row that does not fit is not cut in silence', () => {
  expect(() => padRow(row, { length: 2, pad: 0 })).toThrow(RangeError)
})
