import { expect, test } from 'vitest'
import { asPresses } from './interrupts.ts'

test('a signal that npx repeats is one press, and a person who presses again is heard', () => {
  let now = 1_000
  let presses = 0
  const signal = asPresses(
    () => presses++,
    () => now,
  )
  signal()
  now += 3
  signal()
  expect(presses).toBe(1)
  now += 250
  signal()
  expect(presses).toBe(2)
})
