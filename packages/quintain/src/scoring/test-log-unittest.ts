import type { ReadLog } from './test-log.ts'
import { type TestStatus, TestStatuses, testStatusOf } from './test-status.ts'

const ended = /^(.*?) \.\.\.\s+(ok|OK|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$/
const begun = /^(.*?) \.\.\.(?:\s|$)/
const alone = /^(ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$/
const failure = /^(FAIL|ERROR): (.+)$/
/** A subtest is named after its test, with a message and parameters behind. */
const subtestOf = /^(\w+ \([\w.<>]+\))\s+[[(]/
const testName = /^\w+ \([\w.<>]+\)$/

function statusIn(word: string): TestStatus | undefined {
  return testStatusOf(word.startsWith('skipped') ? 'skipped' : word)
}

/**
 * Reads what `unittest -v`, and Django's runner with it, prints. A test with a docstring is reported on two lines, the
 * name on the first; what a test prints itself may stand between the dots and the status.
 */
export function readUnittestLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  let open: string | undefined
  let before = ''
  const reportWithTest = (name: string, status: TestStatus | undefined) => {
    tests.report(name, status)
    const test = subtestOf.exec(name)?.[1]
    if (test !== undefined) tests.report(test, status)
  }
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    const name = (given: string) => (!testName.test(given) && testName.test(before) ? before : given)
    const whole = ended.exec(line)
    const failed = failure.exec(line)
    const word = alone.exec(line)
    if (whole !== null) {
      reportWithTest(name(whole[1]!), statusIn(whole[2]!))
      open = undefined
    } else if (failed !== null) reportWithTest(failed[2]!, statusIn(failed[1]!))
    else if (word !== null && open !== undefined) {
      tests.report(open, statusIn(word[1]!))
      open = undefined
    } else {
      const start = begun.exec(line)
      if (start !== null) open = name(start[1]!)
    }
    const ran = /^Ran (\d+) tests? in /.exec(line)
    if (ran !== null) declared = Number(ran[1])
    before = line
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}
