import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Duration, toMs } from './duration.ts'

test.each<[Duration, number]>([
  [250, 250],
  [0.5, 0.5],
  ['500ms', 500],
  ['1.5s', 1_500],
  ['30s', 30_000],
  ['2m', 120_000],
  ['1h', 3_600_000],
])('%s is %i ms', (given, ms) => {
  expect(toMs(given)).toBe(ms)
})

test('every positive number of a unit is that many times the unit', () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.constantFrom('ms', 's', 'm', 'h'),
      (count, unit) => {
        expect(toMs(`${count}${unit}`)).toBe(count * units[unit])
      },
    ),
  )
})

test.each([
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '0s',
  '-1s',
  '1',
  '1 s',
  's',
  '',
  '1d',
  '1e3s',
  '٣s',
  null,
  undefined,
  {},
  1n,
])('%s is refused with its name', (given) => {
  expect(() => toMs(given as Duration, 'limit wall')).toThrow(
    expect.objectContaining({ code: 'limits_invalid', message: expect.stringContaining('limit wall') }),
  )
})

test('the message shows what was given', () => {
  expect(() => toMs(Number.POSITIVE_INFINITY)).toThrow('duration is Infinity')
  expect(() => toMs('soon' as Duration)).toThrow('duration is "soon"')
})
