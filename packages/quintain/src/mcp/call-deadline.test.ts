import { expect, test } from 'vitest'
import { VirtualTimers } from './__fixtures__/virtual-timers.ts'
import { startCallDeadline } from './call-deadline.ts'

async function play(options: { totalMs: number; idleMs?: number; signsAt?: number[]; until: number }) {
  const timers = new VirtualTimers()
  const expired: [string, number][] = []
  const deadline = startCallDeadline({
    ...options,
    timers,
    expire: (which) => expired.push([which, timers.now()]),
  })
  for (const at of options.signsAt ?? []) timers.set(() => deadline.touch(), at)
  await timers.advanceTo(options.until)
  return expired
}

test('the total limit counts from the start, whatever signs of life come', async () => {
  const signsAt = Array.from({ length: 15 }, (_, index) => 4000 * (index + 1))
  expect(await play({ totalMs: 12_000, idleMs: 5_000, signsAt, until: 60_000 })).toEqual([['total', 12_000]])
})

test('the idle limit starts anew with each sign', async () => {
  expect(await play({ totalMs: 60_000, idleMs: 1_000, signsAt: [600, 1200, 1800], until: 2_500 })).toEqual([])
  expect(await play({ totalMs: 60_000, idleMs: 1_000, signsAt: [600, 1200], until: 9_999 })).toEqual([
    ['idle', 2_200],
  ])
})

test('without an idle limit only the total one counts; a stopped deadline never expires', async () => {
  expect(await play({ totalMs: 3_000, until: 9_999 })).toEqual([['total', 3_000]])
  const timers = new VirtualTimers()
  const deadline = startCallDeadline({ totalMs: 5, timers, expire: () => expect.fail() })
  deadline.stop()
  deadline.touch()
  await timers.advanceTo(100)
})
