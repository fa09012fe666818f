import { readCargoLog } from './test-log-cargo.ts'
import { readGoEvents, readGoLog } from './test-log-go.ts'
import { readJestJson, readJestLog } from './test-log-jest.ts'
import { readJunitXml } from './test-log-junit.ts'
import { readKarmaLog } from './test-log-karma.ts'
import { readPytestLog } from './test-log-pytest.ts'
import { readTapLog } from './test-log-tap.ts'
import { readUnittestLog } from './test-log-unittest.ts'
import type { XmlProblem } from './test-log-xml.ts'
import type { TestStatus, TestStatuses } from './test-status.ts'

/** What the log of a test run says. */
export interface TestLog {
  /** Status by the runner's own name of the test. */
  tests: ReadonlyMap<string, TestStatus>
  /** How many tests the runner itself says that it ran, skipped ones included; undefined when it does not say. */
  declared?: number
  /** How many failed, where the runner counts them beside naming them. */
  declaredFailed?: number
  /** Why the log was not read to its end: what could have followed is not known, so it shows no pass. */
  problem?: TestLogProblem
}

/**
 * `has_dtd`: XML with a document type, which is not read at all; `too_deep`: XML more than 256 deep; `cut_off` and
 * `not_well_formed`: XML or JSON that breaks off, or is none; a TAP stream that bailed out is `cut_off` too.
 */
export type TestLogProblem = XmlProblem

/** What each reader gives. */
export interface ReadLog {
  tests: TestStatuses
  declared?: number
  declaredFailed?: number
  problem?: TestLogProblem
}

/**
 * Formats of test logs, by name. `unittest` is Django's too; `jest` also reads the lists of vitest and mocha;
 * `go` reads `go test -v`, and events among it, `go-json` events alone; `jest-json` is what `jest --json` and `vitest --reporter=json` write.
 */
const readers = {
  pytest: readPytestLog,
  unittest: readUnittestLog,
  django: readUnittestLog,
  tap: readTapLog,
  junit: readJunitXml,
  go: readGoLog,
  'go-json': readGoEvents,
  cargo: readCargoLog,
  jest: readJestLog,
  vitest: readJestLog,
  mocha: readJestLog,
  karma: readKarmaLog,
  'jest-json': readJestJson,
  'vitest-json': readJestJson,
} satisfies Record<string, (text: string) => ReadLog>

export type TestLogDialect = keyof typeof readers

export const testLogDialects = Object.keys(readers) as readonly TestLogDialect[]

/** Colours of a terminal. */
const colours = /\u001b\[[0-9;?]*[A-Za-z]/g

/**
 * Reads the log of a test run. A line that is not understood is no test, and a test that is not reported is not in the
 * result: whoever asks for it finds nothing, which is never a pass. A test that is reported twice keeps the worse
 * status. Never throws for what a log holds.
 *
 * A log is text that the graded code may have written too. It is evidence only beside the runner's exit code
 * (`resolveTests`), and weaker than checks whose results leave by a channel of their own (`runChecks`).
 */
export function parseTestLog(text: string, dialect: TestLogDialect): TestLog {
  return readers[dialect](text.replace(colours, '').replace(/\r\n?/g, '\n'))
}
