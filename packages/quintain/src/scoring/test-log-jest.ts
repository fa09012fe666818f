import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

const marks: Readonly<Record<string, 'passed' | 'failed' | 'skipped'>> = {
  '✓': 'passed',
  '✔': 'passed',
  '√': 'passed',
  '✕': 'failed',
  '✖': 'failed',
  '✗': 'failed',
  '×': 'failed',
  '○': 'skipped',
  '↓': 'skipped',
  '✎': 'skipped',
}
const marked = /^\s*([✓✔√✕✖✗×○↓✎])\s+(.+?)$/
const took = /\s\(?\d{1,12}(?:\.\d{1,9})?\s?m?s\)?$/
/** mocha gives a failure its number in place of a mark. */
const numbered = /^\s+\d+\) (\S.*)$/

/** Reads the lists that jest (`--verbose`), vitest and mocha print. Names are as printed, without the groups round them in jest and mocha. */
export function readJestLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    const found = marked.exec(line)
    if (found !== null) {
      const name = found[2]!.replace(took, '').trimEnd()
      const skipped = /^(?:skipped|todo) (.*)$/.exec(name)
      const status = marks[found[1]!]
      // A file of vitest is a line of its own: "✓ src/a.test.ts (3 tests) 5ms".
      if (!/^\(\d+ tests?(?: \|.*)?\)$/.test(name.slice(Math.max(0, name.lastIndexOf('(')))))
        tests.report(found[1] === '○' && skipped !== null ? skipped[1]! : name, status)
      continue
    }
    const failed = numbered.exec(line)
    if (failed !== null && !failed[1]!.endsWith(':')) tests.report(failed[1]!, 'failed')
    const total = /^\s*Tests:?\s.*?(?:\b(\d{1,9}) total|\((\d{1,9})\))$/.exec(line)
    if (total !== null) declared = Number(total[1] ?? total[2])
    const mocha = /^\s+(\d+) (?:passing|failing|pending)\b/.exec(line)
    if (mocha !== null) declared = (declared ?? 0) + Number(mocha[1])
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}

/** Reads the JSON of `jest --json` and `vitest --reporter=json`. Names are full names, groups first. */
export function readJestJson(text: string): ReadLog {
  const tests = new TestStatuses()
  let report: unknown
  if (!text.includes('{')) return { tests }
  try {
    report = JSON.parse(text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1))
  } catch {
    return { tests, problem: 'not_well_formed' }
  }
  const { testResults, numTotalTests } = (report ?? {}) as { testResults?: unknown; numTotalTests?: unknown }
  for (const file of Array.isArray(testResults) ? (testResults as unknown[]) : []) {
    const { assertionResults } = (file ?? {}) as { assertionResults?: unknown }
    for (const one of Array.isArray(assertionResults) ? (assertionResults as unknown[]) : []) {
      const { fullName, status } = (one ?? {}) as { fullName?: unknown; status?: unknown }
      if (typeof fullName === 'string' && typeof status === 'string')
        tests.report(fullName.trim(), testStatusOf(status))
    }
  }
  return {
    tests,
    ...(typeof numTotalTests === 'number' && numTotalTests >= 0 ? { declared: numTotalTests } : {}),
  }
}
