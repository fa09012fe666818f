import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

/** What a test printed without a line break may stand in front. */
const ended = /--- (PASS|FAIL|SKIP): (\S+) \(\d/

/** Reads `go test -v`, and the events of `go test -json`. Subtests are named as Go names them, `TestA/case`. */
export function readGoLog(text: string): ReadLog {
  const tests = new TestStatuses()
  for (const line of text.split('\n')) {
    // What a test printed is in an event of its own, and can look like the end of another.
    if (readEvent(line, tests)) continue
    const found = ended.exec(line)
    if (found !== null) tests.report(found[2]!, testStatusOf(found[1]!))
  }
  return { tests }
}

/** Reads the events of `go test -json` and nothing else: what stands beside them is no test. */
export function readGoEvents(text: string): ReadLog {
  const tests = new TestStatuses()
  for (const line of text.split('\n')) readEvent(line, tests)
  return { tests }
}

/** Whether a line is an event. */
function readEvent(line: string, tests: TestStatuses): boolean {
  if (!line.startsWith('{')) return false
  let event: { Action?: unknown; Test?: unknown }
  try {
    event = JSON.parse(line) as typeof event
  } catch {
    return false
  }
  const { Action: action, Test: test } = event
  if (typeof action !== 'string') return false
  if (typeof test === 'string' && ['pass', 'fail', 'skip'].includes(action))
    tests.report(test, testStatusOf(action))
  return true
}
