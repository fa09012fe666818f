import fc from 'fast-check'
import { expect, test } from 'vitest'
import { composeParts, type RewardPart } from './compose-parts.ts'

const part: fc.Arbitrary<RewardPart> = fc.record({
  name: fc.string(),
  value: fc.double({ min: 0, max: 1, noNaN: true }),
  weight: fc.double({ min: 0.01, max: 1e300, noNaN: true }),
})
const parts = fc.array(part, { minLength: 1, maxLength: 8 })
const how = fc.constantFrom('sum' as const, 'min' as const, 'max' as const)

test('a weighted sum is a mean, and a closed gate leaves nothing', () => {
  const style = { name: 'style', value: 0.5 }
  expect(composeParts('sum', [{ name: 'tests', value: 1, weight: 3, gate: 1 }, style]).reward).toBe(0.875)
  expect(composeParts('sum', [{ name: 'tests', value: 0.9, weight: 3, gate: 1 }, style])).toMatchObject({
    reward: 0,
    closed: ['tests'],
  })
})

test('a part whose checks did not all run leaves no reward', () => {
  const composed = composeParts('max', [
    { name: 'a', value: 1, checks: { expected: 3, run: 3 } },
    { name: 'b', value: 1, checks: { expected: 2, run: 1 } },
  ])
  expect(composed).toEqual({ reward: null, missing: ['b'], closed: [], checks: { expected: 5, run: 4 } })
  expect(composeParts('max', [{ name: 'a', value: 1, checks: { expected: 0, run: 0 } }]).reward).toBeNull()
})

test('there is no reward without parts or weight', () => {
  expect(composeParts('min', []).reward).toBeNull()
  expect(composeParts('sum', [{ name: 'a', value: 1, weight: 0 }]).reward).toBeNull()
})

test('a reward stays between its least and its greatest part', () => {
  fc.assert(
    fc.property(how, parts, (how, parts) => {
      const { reward } = composeParts(how, parts)
      const values = parts.map(({ value }) => value ?? Number.NaN)
      expect(reward).toBeGreaterThanOrEqual(Math.min(...values))
      expect(reward).toBeLessThanOrEqual(Math.max(...values))
    }),
  )
})

test('one part without a number leaves no reward, wherever it stands', () => {
  fc.assert(
    fc.property(how, parts, fc.constantFrom(null, Number.NaN, 2, -1), (how, parts, value) => {
      for (let at = 0; at <= parts.length; at++)
        expect(composeParts(how, parts.toSpliced(at, 0, { name: 'x', value, weight: 1 })).reward).toBeNull()
    }),
  )
})

test('a better part never lowers the reward', () => {
  fc.assert(
    fc.property(how, parts, fc.nat(), (how, parts, at) => {
      const better = parts.map((part, index) => (index === at % parts.length ? { ...part, value: 1 } : part))
      const was = composeParts(how, parts).reward ?? 1
      expect(composeParts(how, better).reward ?? 0).toBeGreaterThanOrEqual(was - 1e-12)
    }),
  )
})
