import { type FoundTest, findTest } from './find-test.ts'
import type { TestLog } from './test-log.ts'

export interface ResolveOptions {
  /** Tests that fail before the fix and must pass after it. */
  failToPass: readonly string[]
  /** Tests that pass before and must go on passing. */
  passToPass: readonly string[]
  log: TestLog
  /** Exit code of the runner; null when it was ended by a signal or at its deadline. Left out, nothing is checked by it. */
  exitCode?: number | null
  /**
   * `fail_only` is for runners that name only what failed: a test that is not named has passed, provided that the
   * runner says that it ran some and names as many failures as it counts; where no test is listed, none may have failed.
   * `all` when absent: every test must be reported as passed.
   */
  mode?: 'all' | 'fail_only'
}

export type UnresolvedReason =
  | 'suite_never_ran'
  | 'did_not_end'
  | 'log_damaged'
  | 'exit_code_contradicts_log'
  | 'test_missing'
  | 'test_ambiguous'
  | 'test_not_passed'

export interface Resolution {
  resolved: boolean
  reason?: UnresolvedReason
  /** What was found of each listed test. */
  tests: Record<string, FoundTest['status']>
}

/**
 * Whether a run of tests shows that a change is the fix. A pass needs positive evidence: a skipped, missing or ambiguous
 * test is none, neither is a suite that ran nothing, and a log in which nothing failed beside an exit code that says
 * otherwise may have been printed by the graded code; nor is a log that could not be read to its end. A test that is expected to fail still passes as `passToPass`.
 *
 * After SWE-bench's grading, with the cases closed in which it counted silence as success.
 */
export function resolveTests(options: ResolveOptions): Resolution {
  const { failToPass, passToPass, log, exitCode, mode = 'all' } = options
  const tests: Resolution['tests'] = Object.create(null)
  const no = (reason: UnresolvedReason): Resolution => ({ resolved: false, reason, tests })
  const reasons: UnresolvedReason[] = []
  for (const [list, mayXfail] of [
    [failToPass, false],
    [passToPass, true],
  ] as const) {
    for (const id of list) {
      const { status } = findTest(id, log.tests)
      tests[id] = status
      const passed = status === 'passed' || (mayXfail && status === 'xfailed')
      const silent = mode === 'fail_only' && status === 'missing'
      if (passed || silent) continue
      reasons.push(
        status === 'missing' ? 'test_missing' : status === 'ambiguous' ? 'test_ambiguous' : 'test_not_passed',
      )
    }
  }
  const statuses = [...log.tests.values()]
  const ran = statuses.some((status) => status !== 'skipped') || (log.declared ?? 0) > 0
  if (log.problem !== undefined && (!ran || reasons.length === 0)) return no('log_damaged')
  if (!ran) return no('suite_never_ran')
  if (exitCode === null) return no('did_not_end')
  const failures = statuses.filter((status) => status === 'failed' || status === 'error').length
  const failed = failures > 0
  // Any test that is not named may be the one that failed.
  if (mode === 'fail_only' && (log.declaredFailed ?? 0) > failures && reasons.length === 0)
    return no('log_damaged')
  if (exitCode !== undefined && exitCode !== 0 && !failed && reasons.length === 0)
    return no('exit_code_contradicts_log')
  const [reason] = reasons.toSorted((a, b) => rank.indexOf(a) - rank.indexOf(b))
  if (reason !== undefined) return no(reason)
  // Nothing was asked for, so nothing was shown.
  const listed = failToPass.length + passToPass.length
  if (listed === 0 && (mode === 'all' || failed)) return no(failed ? 'test_not_passed' : 'test_missing')
  return { resolved: true, tests }
}

/** A failure says more than a gap. */
const rank: readonly UnresolvedReason[] = ['test_not_passed', 'test_ambiguous', 'test_missing']
