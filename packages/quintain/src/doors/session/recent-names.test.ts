import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RecentNames } from './recent-names.ts'

it('knows the last ones that it was given, and forgets what is older than twice as many', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 40 }), (least, count) => {
      const recent = new RecentNames(least)
      for (let at = 0; at < count; at++) recent.add(`${at}`)
      for (let at = 0; at < count; at++) {
        if (at >= count - least) expect(recent.has(`${at}`)).toBe(true)
        if (at < count - 2 * least) expect(recent.has(`${at}`)).toBe(false)
      }
      expect(recent.has('another')).toBe(false)
    }),
  )
})
