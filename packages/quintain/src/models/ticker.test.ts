import { expect, test } from 'vitest'
import { now } from '../core/own-time.ts'
import { Ticker } from './ticker.ts'

test('one who rests is looked at once, not before its time', async () => {
  const ticker = new Ticker(5)
  const until = now() + 40
  const looks: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const member = { tick: (at: number) => void looks.push(at) }
  ticker.add(member)
  ticker.rest(member, until)
  ticker.rest({ tick: () => resolve() }, until + 50)
  await promise
  expect(looks).toHaveLength(1)
  expect(looks[0]).toBeGreaterThanOrEqual(until)
})
