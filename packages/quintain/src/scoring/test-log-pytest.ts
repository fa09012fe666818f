import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

const status = '(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)'
const summaryLine = new RegExp(`^(?:\\[gw\\d+\\]\\s+(?:\\[\\s*\\d+%\\]\\s+)?)?${status}\\s+(\\S.*)$`)
const progressLine = new RegExp(`^(\\S+?\\.py::.*?)\\s+${status}(?:\\s+\\(.*\\))?(?:\\s+\\[\\s*\\d+%\\])?$`)
const startedLine = /^(\S+?\.py::\S+(?:\[.*\])?)(?:\s|$)/
const statusAlone = new RegExp(`^${status}(?:\\s+\\[\\s*\\d+%\\])?$`)
const counts = /(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b/g
const lastLine =
  /^=*\s*(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)\b.*|no tests ran) in [\d.]+/

/** The name in front of ` - message`. Parameters may hold blanks and dashes themselves, so a name with them ends at its bracket. */
function nameIn(text: string): string {
  const bracket = text.indexOf('[')
  const dash = text.indexOf(' - ')
  if (bracket >= 0 && (dash < 0 || bracket < dash)) {
    const end = /\](?= - |\s*$)/.exec(text.slice(bracket))
    if (end !== null) return text.slice(0, bracket + end.index + 1)
  }
  return (dash < 0 ? text : text.slice(0, dash)).trim()
}

/** Reads what pytest prints: the lines of `-v`, with xdist or without, the short summary of `-rA`, and the last line. */
export function readPytestLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  let started: string | undefined
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    // What a test printed stands between its name and its status.
    const alone = statusAlone.exec(line.trim())
    const summary = alone === null ? summaryLine.exec(line) : null
    const progress = progressLine.exec(line)
    if (alone !== null) {
      if (started !== undefined) tests.report(started, testStatusOf(alone[1]!))
    } else if (summary !== null) {
      // "SKIPPED [2] tests/a.py:7: reason" names a place and no test.
      const name = nameIn(summary[2]!)
      if (name.includes('::') || /\.py$/.test(name)) tests.report(name, testStatusOf(summary[1]!))
    } else if (progress !== null) {
      tests.report(progress[1]!, testStatusOf(progress[2]!))
      started = undefined
    } else started = startedLine.exec(line)?.[1] ?? started
    if (lastLine.test(line)) {
      declared = 0
      for (const [, count] of line.matchAll(counts)) declared += Number(count)
    }
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}
