import { describe, expect, test } from 'vitest'
import { parseTestLog, testLogDialects } from './test-log.ts'

/*
 * A log is as hostile as what was graded. Each line here made one pattern or another look from each of its places to its end: at
 * this length that is minutes, and it is milliseconds where it is looked at once.
 */
const lines = [
  `a.py::t ${' '.repeat(1_000_000)}x`,
  'a.py::t PASSED ('.repeat(100_000),
  `${'a.py::t'.repeat(200_000)} x`,
  `✓ ${'(1 tests | '.repeat(100_000)}`,
  `✓ a${' '.repeat(1_000_000)}(1`,
  `1 passed ${'1'.repeat(1_000_000)} in 1s`,
  `Tests: ${'1'.repeat(1_000_000)}`,
  `ok 1 - ${'# '.repeat(500_000)}`,
  `test a ... ${' ... '.repeat(200_000)}`,
  '--- PASS: '.repeat(100_000),
  `SUBFAILED ${'a.py::t '.repeat(100_000)}`,
  `Executed ${'1'.repeat(1_000_000)}`,
  '\u001b[0'.repeat(300_000),
]

describe.each(testLogDialects)('%s', (dialect) => {
  test('reads hostile lines once', () => {
    for (const line of lines) {
      const { tests } = parseTestLog(`${line}\n`, dialect)
      expect(tests.size).toBeLessThan(101)
    }
  })
})
