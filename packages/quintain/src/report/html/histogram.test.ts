import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decades, histogram, logHistogram } from './histogram.ts'

describe('histogram', () => {
  test('every finite number is in the one bar that holds it', () => {
    fc.assert(
      fc.property(fc.array(fc.double()), (values) => {
        const bins = histogram(values)
        const finite = values.filter((value) => Number.isFinite(value))
        expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(finite.length)
        for (const [i, { from, to, count }] of bins.entries()) {
          const last = i === bins.length - 1
          const inside = (value: number) =>
            from === to ? value === from : value >= from && (value < to || (last && value <= to))
          expect(count).toBe(finite.filter(inside).length)
        }
      }),
    )
  })

  test('few values are a bar each, many are of equal width from the least to the most', () => {
    expect(histogram([1, 0, 1, 1])).toEqual([
      { from: 0, to: 0, count: 1 },
      { from: 1, to: 1, count: 3 },
    ])
    const many = histogram(
      Array.from({ length: 101 }, (_, i) => i / 100),
      4,
    )
    expect(many.map(({ from, count }) => [from, count])).toEqual([
      [0, 25],
      [0.25, 25],
      [0.5, 25],
      [0.75, 26],
    ])
    expect(histogram([])).toEqual([])
  })
})

test('a log axis spans whole decades and counts all, zero in the first bar', () => {
  expect(decades([[3, 250], [0]])).toEqual([0, 3])
  expect(decades([[0], []])).toEqual([0, 1])
  expect(decades([[100]])).toEqual([2, 3])
  const bins = logHistogram([0, 1, 9.9, 10, 99, 1e9], [0, 2], 2)
  expect(bins.map(({ count }) => count)).toEqual([3, 3])
})
