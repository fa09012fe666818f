import { expect, test, vi } from 'vitest'
import { defaultEpoch, virtualClock } from './clock.ts'

test('a clock starts at its epoch and moves only when it is told to', () => {
  expect(virtualClock().now()).toBe(defaultEpoch)
  const clock = virtualClock(1_000)
  clock.advance(5)
  clock.advance(0)
  expect(clock.now()).toBe(1_005)
})

test('a clock of the machine that jumps does not move it', () => {
  const clock = virtualClock(1_000)
  vi.spyOn(Date, 'now').mockReturnValue(0)
  expect(clock.now()).toBe(1_000)
  vi.restoreAllMocks()
})

test('time does not go backwards', () => {
  const clock = virtualClock(1_000)
  for (const ms of [-1, Number.NaN]) expect(() => clock.advance(ms)).toThrow(RangeError)
  expect(clock.now()).toBe(1_000)
})
