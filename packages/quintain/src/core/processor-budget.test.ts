import { expect, test } from 'vitest'
import { withinProcessorTime } from './processor-budget.ts'

test('what ends in time gives its value', () => {
  expect(withinProcessorTime(100, () => 7)).toEqual({ done: true, value: 7 })
  expect(withinProcessorTime(100, () => undefined)).toEqual({ done: true, value: undefined })
})

test('what it throws is thrown', () => {
  const thrown = new RangeError('too deep')
  expect(() =>
    withinProcessorTime(100, () => {
      throw thrown
    }),
  ).toThrow(thrown)
})

test.each<[string, () => unknown]>([
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
  ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(100)}!`)],
  [
    'what catches whatever is thrown',
    () => {
      for (;;) {
        try {
          for (;;);
        } catch {
          // On it goes.
        }
      }
    },
  ],
])('%s without end is broken off, and the next is none the worse', (_what, run) => {
  expect(withinProcessorTime(20, run)).toEqual({ done: false })
  expect(withinProcessorTime(20, () => 'next')).toEqual({ done: true, value: 'next' })
})
