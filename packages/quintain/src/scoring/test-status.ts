/** What became of one test. `xfailed` was expected to fail and did; `xpassed` was expected to fail and did not. */
export type TestStatus = 'passed' | 'failed' | 'error' | 'skipped' | 'xfailed' | 'xpassed'

const words: Readonly<Record<string, TestStatus>> = {
  pass: 'passed',
  passed: 'passed',
  ok: 'passed',
  success: 'passed',
  fail: 'failed',
  failed: 'failed',
  'not ok': 'failed',
  error: 'error',
  errored: 'error',
  skip: 'skipped',
  skipped: 'skipped',
  ignored: 'skipped',
  pending: 'skipped',
  todo: 'skipped',
  disabled: 'skipped',
  xfail: 'xfailed',
  xfailed: 'xfailed',
  'expected failure': 'xfailed',
  xpass: 'xpassed',
  xpassed: 'xpassed',
  'unexpected success': 'xpassed',
}

/** The status that a runner's word stands for, in any case; undefined for a word that is none. */
export function testStatusOf(word: string): TestStatus | undefined {
  const key = word.trim().toLowerCase()
  return Object.hasOwn(words, key) ? words[key] : undefined
}

/** Worse last. */
const order: readonly TestStatus[] = ['passed', 'xfailed', 'xpassed', 'skipped', 'failed', 'error']

/** The worse of two statuses. */
export function worseStatus(one: TestStatus, other: TestStatus): TestStatus {
  return order.indexOf(other) > order.indexOf(one) ? other : one
}

/**
 * Statuses by test. A test that is reported twice keeps the worse: what the graded code prints can look like the
 * runner's own line, and must not make up for a failure.
 */
export class TestStatuses extends Map<string, TestStatus> {
  report(test: string, status: TestStatus | undefined): void {
    if (test === '' || status === undefined) return
    const known = this.get(test)
    this.set(test, known === undefined ? status : worseStatus(known, status))
  }
}
