import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

/** What a test printed without a line break may stand in front. */
const ended = /--- (PASS|FAIL|SKIP): (\S+) \(\d/

/** Reads `go test -v`, and the events of `go test -json`. Subtests are named as Go names them, `TestA/case`. */
export function readGoLog(text: string): ReadLog {
  const tests = new TestStatuses()
  for (const line of text.split('\n')) {
    const found = ended.exec(line)
    if (found !== null) tests.report(found[2]!, testStatusOf(found[1]!))
    else if (line.startsWith('{')) readEvent(line, tests)
  }
  return { tests }
}

function readEvent(line: string, tests: TestStatuses): void {
  let event: { Action?: unknown; Test?: unknown }
  try {
    event = JSON.parse(line) as typeof event
  } catch {
    return
  }
  if (typeof event.Test !== 'string' || typeof event.Action !== 'string') return
  if (['pass', 'fail', 'skip'].includes(event.Action)) tests.report(event.Test, testStatusOf(event.Action))
}
