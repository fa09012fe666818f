import { posix } from 'node:path'
import {
  type Box,
  type BoxFiles,
  type ExecResult,
  FaultError,
  type Graded,
  type GradingBoxOptions,
  type GradingSandbox,
  QuintainError,
} from '../core/index.ts'
import { findTest } from './find-test.ts'
import { resolveTests, type UnresolvedReason } from './resolve-tests.ts'
import { readResults, type SuiteResults } from './suite-results.ts'
import type { TestLog } from './test-log.ts'

export interface SuiteOptions {
  /** What runs the suite: text by the box's shell, a list as program and arguments. */
  command: string | readonly string[]
  /** The file in which it says what became of each test. */
  results: SuiteResults
  /** Names of the tests that must pass, as the runner writes them (`parseTestLog`); every one of them. */
  expected: readonly string[]
  /** Files in place of the agent's with which the suite runs, whether it passes or not: `{}` where it reports its tests without any. */
  control: BoxFiles
  /** The hidden tests by path, absolute or from `cwd`; nothing in the box can change them. */
  tests?: BoxFiles
  /** Folder that the command starts in; that of the box when absent. */
  cwd?: string
  /** Wall clock of the suite, milliseconds; 60 s when absent, and never more than leaves room in the budget of the grading to run it once more. */
  wallMs?: number
  /** `all` (when absent): 1 if every expected test passed, else 0. `share`: the share of them that passed. */
  score?: 'all' | 'share'
  /** How the box starts, beside the tests. */
  box?: Omit<GradingBoxOptions, 'readOnlyFiles'>
}

/** What is kept of a run of a suite; private, since names and output of tests may quote gold. */
interface Evidence {
  driver: string
  isolation: Box['isolation']
  /** What was found of each expected test. */
  tests: Record<string, string>
  /** Why what was reported is not enough, or not believed. */
  refused?: UnresolvedReason | 'did_not_run' | 'results_in_the_way' | 'results_unreadable'
  problem?: string
  end: Pick<ExecResult, 'exitCode' | 'signal' | 'timedOut'>
  /** The last of what the suite printed. */
  output: string
}

const outputKept = 4000
/** Of the budget of a grading, for one run of the suite: there may be two. */
const shareOfBudget = 0.4

/**
 * Runs a test suite over what an agent left, in a fresh box, and gives a reward from the results that the runner writes to
 * a file. A reward of 1 needs every expected test reported as passed and as nothing else, a file of results that was not
 * there before and is whole, and a runner that came to its end with an exit code that agrees. Skipped, missing and
 * expectedly failing tests are none that passed.
 *
 * Weaker evidence than `runChecks`: such a suite loads the agent's code into its own process, where that code can
 * write the file of results or replace the functions that tests compare with. Take it for suites that exist, of tasks
 * whose agents are watched; for hidden tests that must hold against cheats take `runChecks`.
 *
 * Where nothing ran, the suite runs once more with `control` in place of the agent's files. If nothing runs then either, the
 * grader is at fault (`checks_missing`: no check was run); else it was the agent's doing, and the reward is 0 with
 * `did_not_run` in the evidence. A control that does not run lets agents turn a failure into a fault: give suites that
 * must compile a solution that compiles.
 *
 * Throws `options_invalid` for options that cannot be, the fault `checks_need_walls` in boxes that keep nothing in, and
 * faults of owner `sandbox`.
 *
 * @example
 * runSuite(sandbox, {
 *   command: 'python3 -m pytest -p no:cacheprovider --junitxml=/tmp/results.xml /tests',
 *   tests: { '/tests/test_add.py': task.secret.tests },
 *   results: { path: '/tmp/results.xml', dialect: 'junit' },
 *   expected: ['tests.test_add::test_small', 'tests.test_add::test_large'],
 *   control: {},
 * })
 */
export async function runSuite(sandbox: GradingSandbox, options: SuiteOptions): Promise<Graded> {
  const { expected, score = 'all' } = options
  refuseUnusable(options)
  const run = await runOnce(sandbox, options, options.box ?? {})
  const settled = (value: number): Graded => graded(value, run.evidence, expected.length, expected.length)
  if (run.evidence.refused === 'results_in_the_way') return settled(0)
  if (!ranSome(run.log) && run.evidence.refused !== 'results_unreadable') {
    const { files, ...box } = options.box ?? {}
    const control = await runOnce(sandbox, options, {
      ...box,
      artefacts: 'none',
      files: { ...files, ...options.control },
    })
    if (control.log.tests.size === 0) return graded(0, control.evidence, expected.length, 0)
    return settled(0)
  }
  const { refused } = run.evidence
  if (refused === undefined) return settled(1)
  // A test of many that did not pass leaves the others what they are; all else leaves none to believe.
  const { tests } = run.log
  const crashed =
    run.evidence.end.exitCode !== 0 &&
    ![...tests.values()].some((status) => /^(?:failed|error)$/.test(status))
  if (score === 'all' || !/^test_/.test(refused) || run.log.problem !== undefined || crashed)
    return settled(0)
  return settled(
    expected.filter((name) => findTest(name, tests).status === 'passed').length / expected.length,
  )
}

/** Whether a test was tried: one that was skipped shows nothing. */
function ranSome({ tests }: TestLog): boolean {
  return [...tests.values()].some((status) => status !== 'skipped')
}

function refuseUnusable({ expected, results, cwd, tests, control, box }: SuiteOptions): void {
  const refuse = (what: string): never => {
    throw new QuintainError('options_invalid', `runSuite: ${what}`)
  }
  if (expected.length === 0) refuse('name the tests that are expected; a pass needs evidence.')
  if (new Set(expected).size < expected.length) refuse('a test is expected twice.')
  if (expected.includes('')) refuse('a test without a name is expected.')
  if (results.path === '' || results.path.endsWith('/')) refuse('the path of the results names no file.')
  const folder = cwd ?? box?.workdir ?? '/box'
  for (const path of Object.keys({ ...tests, ...control, ...box?.files }))
    if (posix.resolve(folder, path) === posix.resolve(folder, results.path))
      refuse(`a file is put at ${path}, where the results are to be written.`)
  if (cwd !== undefined && !cwd.startsWith('/')) refuse('cwd is no absolute path.')
}

async function runOnce(
  sandbox: GradingSandbox,
  { command, results, expected, tests = {}, cwd, wallMs = 60_000 }: SuiteOptions,
  options: GradingBoxOptions,
): Promise<{ log: TestLog; evidence: Evidence }> {
  const folder = cwd ?? options.workdir ?? '/box'
  const readOnlyFiles = Object.fromEntries(
    Object.entries(tests).map(([path, content]) => [posix.resolve(folder, path), content]),
  )
  const box = await sandbox.start({ ...options, readOnlyFiles })
  try {
    if (box.isolation === 'none' || box.isolation === 'memory') throw withoutWalls(box.driver)
    const path = posix.resolve(folder, results.path)
    // Else what an agent left there would be what a runner that crashed has said.
    const before = await box.read(path, { maxBytes: 1 })
    const inTheWay = before.ok || before.reason !== 'missing'
    const end = await box.exec(command, {
      ...(cwd === undefined ? {} : { cwd }),
      wallMs: Math.min(wallMs, shareOfBudget * (sandbox.wallMs ?? Number.POSITIVE_INFINITY)),
    })
    const read = inTheWay ? 'missing' : await readResults(box, path, results)
    const log: TestLog = typeof read === 'string' ? { tests: new Map() } : read
    const exitCode = end.timedOut || end.notStarted !== undefined ? null : end.exitCode
    const { tests: found, reason } = resolveTests({ failToPass: expected, passToPass: [], log, exitCode })
    const refused = inTheWay
      ? 'results_in_the_way'
      : typeof read === 'string' && read !== 'missing'
        ? 'results_unreadable'
        : ranSome(log)
          ? reason
          : 'did_not_run'
    return {
      log,
      evidence: {
        driver: box.driver,
        isolation: box.isolation,
        tests: found,
        ...(refused === undefined ? {} : { refused }),
        ...(log.problem === undefined ? {} : { problem: log.problem }),
        end: { exitCode: end.exitCode, signal: end.signal, timedOut: end.timedOut },
        output: `${end.stdout.slice(-outputKept)}\n${end.stderr.slice(-outputKept)}`
          .trim()
          .slice(-outputKept),
      },
    }
  } finally {
    await box.stop()
  }
}

function withoutWalls(driver: string): FaultError {
  return new FaultError({
    owner: 'grader',
    code: 'checks_need_walls',
    message: `a suite runs the agent's code, and ${driver} keeps nothing in; declare sandbox: { drivers: ['bwrap', 'docker', 'podman'] }, so that a run is refused before it starts, and name one of them with --sandbox`,
    retryable: false,
  })
}

function graded(value: number, evidence: Evidence, expected: number, run: number): Graded {
  return { value, checks: { expected, run }, explain: evidence }
}
