import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

const status = '(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)'
const summaryLine = new RegExp(`^(?:\\[gw\\d+\\]\\s+(?:\\[\\s*\\d+%\\]\\s+)?)?${status}\\s+(\\S.*)$`)
const statusAlone = new RegExp(`^${status}(?:\\s+\\[\\s*\\d+%\\])?$`)
const counts = /\b(\d{1,9}) (passed|failed|errors?|skipped|xfailed|xpassed)\b/g
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

const statusInLine = new RegExp(`\\s${status}(?=(\\s+\\()|$)`, 'g')

/**
 * A line of `-v`: name, status, perhaps a reason in brackets and how far the run has come. Taken apart from its end, since
 * one pattern for all of it takes the square of its length for a line that is made for that.
 */
function progressIn(given: string): { name: string; status: string } | undefined {
  if (!namesTest(given)) return undefined
  const bracket = given.endsWith('%]') ? given.lastIndexOf('[') : -1
  const line =
    bracket > 0 && /^\[\s*\d+%\]$/.test(given.slice(bracket)) ? given.slice(0, bracket).trimEnd() : given
  const mayGiveReason = line.endsWith(')')
  for (const found of line.matchAll(statusInLine)) {
    if (found[2] !== undefined && !mayGiveReason) continue
    return { name: line.slice(0, found.index).trimEnd(), status: found[1]! }
  }
  return undefined
}

/** Whether a line begins with the id of a test. */
function namesTest(line: string): boolean {
  return /^\S+/.exec(line)?.[0].includes('.py::') ?? false
}

/** A subtest that failed, or a try that did: its test may be reported as passed beside it. Before the id may stand any words of the test. */
const failedPart = /^(?:\[gw\d+\]\s+(?:\[\s*\d+%\]\s+)?)?(?:SUBFAIL(?:ED)?|RERUN)(?![A-Za-z])/
/** Ids that are looked for in one such line. */
const mostIds = 100

function* idsIn(line: string): Generator<string> {
  let left = mostIds
  for (const { 0: token, index } of line.matchAll(/\S+/g)) {
    if (!token.includes('.py::')) continue
    yield nameIn(line.slice(index))
    if (--left === 0) return
  }
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
    const progress = progressIn(line)
    if (failedPart.test(line)) for (const name of idsIn(line)) tests.report(name, 'failed')
    if (/\s(?:SUBFAIL(?:ED)?|RERUN)(?![A-Za-z])/.test(line) && namesTest(line))
      tests.report(nameIn(line.slice(0, line.search(/\s(?:SUBFAIL|RERUN)/))), 'failed')
    if (alone !== null) {
      if (started !== undefined) tests.report(started, testStatusOf(alone[1]!))
    } else if (summary !== null) {
      // "SKIPPED [2] tests/a.py:7: reason" names a place and no test.
      const name = nameIn(summary[2]!)
      if (name.includes('::') || /\.py$/.test(name)) tests.report(name, testStatusOf(summary[1]!))
    } else if (progress !== undefined) {
      tests.report(progress.name, testStatusOf(progress.status))
      started = undefined
    } else if (namesTest(line)) started = /^\S+/.exec(line)?.[0]
    if (lastLine.test(line)) {
      declared = 0
      for (const [, count] of line.matchAll(counts)) declared += Number(count)
    }
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}
