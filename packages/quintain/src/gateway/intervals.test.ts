import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Intervals } from './intervals.ts'

const stretch = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

test('says how much of a stretch nothing covers, as counting its seconds does', () => {
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 12 }), stretch, (covered, [from, to]) => {
      const intervals = new Intervals()
      for (const [start, end] of covered) intervals.add(start, end)
      let seconds = 0
      for (let at = from; at < to; at++)
        if (!covered.some(([start, end]) => start <= at && at < end)) seconds++
      expect(intervals.free(from, to)).toBe(seconds)
      expect(intervals.copy().free(from, to)).toBe(seconds)
    }),
  )
})
