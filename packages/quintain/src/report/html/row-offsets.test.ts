import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowOffsets } from './row-offsets.ts'

test('tops, total and the row at a height agree with adding up the heights, whatever was corrected', () => {
  const height = fc.integer({ min: 1, max: 500 })
  fc.assert(
    fc.property(
      fc.array(height, { minLength: 1, maxLength: 30 }),
      fc.array(fc.tuple(fc.nat(29), height), { maxLength: 20 }),
      fc.nat(20_000),
      (guesses, corrections, y) => {
        const offsets = new RowOffsets()
        offsets.reset(guesses.length, (row) => guesses[row]!)
        const heights = [...guesses]
        for (const [row, tall] of corrections) {
          if (row >= heights.length) continue
          expect(offsets.setHeight(row, tall)).toBe(tall - heights[row]!)
          heights[row] = tall
          expect(offsets.top(row)).toBe(heights.slice(0, row).reduce((a, b) => a + b, 0))
        }
        const tops = heights.map((_, row) => heights.slice(0, row).reduce((a, b) => a + b, 0))
        expect(offsets.total).toBe(tops.at(-1)! + heights.at(-1)!)
        expect(offsets.rowAt(y)).toBe(
          Math.max(
            0,
            tops.findLastIndex((top) => top <= y),
          ),
        )
      },
    ),
  )
})

test('an empty list has no height and nothing beyond its ends', () => {
  const offsets = new RowOffsets()
  offsets.reset(0, () => 10)
  expect([offsets.total, offsets.rowAt(50), offsets.setHeight(3, 9)]).toEqual([0, 0, 0])
})
