import { posix } from 'node:path'
import {
  type Box,
  type BoxFileContent,
  type BoxFiles,
  type ExecResult,
  FaultError,
  framedDigest,
  type Graded,
  type GradingBoxOptions,
  type GradingSandbox,
  QuintainError,
  type Said,
} from '../core/index.ts'
import { arithmeticIn, isShellScript } from './checks-arithmetic.ts'
import { answerLine, MessageReader } from './checks-messages.ts'
import { type ChecksReport, ReportReader } from './checks-report.ts'
import { gradingEnv, runnerCommand, runnerFiles } from './checks-script.ts'
import { GradedPrograms } from './graded-programs.ts'

export interface ChecksOptions {
  /** The hidden tests by path, relative to `root`. They are nowhere that an agent could see, until here. */
  tests: BoxFiles
  /** Names of the checks that the tests report, every one of them: what is not reported has not passed. */
  expected: readonly string[]
  /** The script among the tests that is run, by bash; `test.sh` when absent. */
  script?: string
  /** Absolute path of the folder of the tests, one that the agent's files are not in; `/tests` when absent. */
  root?: string
  /** Wall clock of one `check` or `graded`, in milliseconds, rounded up to seconds; 10 s when absent. */
  checkMs?: number
  /** Wall clock of all; 60 s when absent, and never more than leaves room in the budget of the grading to run them once more. */
  wallMs?: number
  /** `all` (when absent): 1 if every check passed, else 0. `share`: the share of the checks that passed. */
  score?: 'all' | 'share'
  /** How the box starts, beside the tests. */
  box?: Omit<GradingBoxOptions, 'readOnlyFiles'>
}

/** What is kept of a grading; private, since names and output of tests may quote gold. */
interface Evidence {
  /** SHA-256 of the tests, paths and contents. */
  tests: string
  driver: string
  isolation: Box['isolation']
  failed: string[]
  /** Expected, and never reported; what the tests had not come to when they did not end. */
  missing: string[]
  /** Why what was reported is not enough, or not believed. */
  refused?: 'tests_changed' | 'did_not_end' | 'checks_missing'
  end: Pick<ExecResult, 'exitCode' | 'signal' | 'timedOut'>
  /** The last of what tests and graded code printed. */
  output: string
}

const outputKept = 4000
/** Of the budget of a grading, for one run of the tests: there may be two. */
const shareOfBudget = 0.4
/** The name of the conversation with the runner. */
const talk = 'checks'

/**
 * Runs hidden tests over what an agent left, in a fresh box, and gives a reward with its checks counted.
 *
 * The tests are a bash script. `check NAME COMMAND…` passes if the command ends with 0; `report NAME STATUS` is for
 * scripts that decide by themselves. What the agent left is there as files to look at, read-only. To run it, say `graded
 * PROGRAM…`: it runs in another box, with the same files and without the tests, under a deadline, and its output and
 * exit status come back; `fetch PATH` gives a file that it has written there. So a graded program finds no test to
 * read or edit, no result to forge and no runner to end. Agent's code that a test loads into a process of its own
 * (an `import`) is the test, and can end it with 0: have it print what it computes, and compare.
 *
 * A reward needs every expected check reported as passed, an unchanged set of tests, and a script that came to its end.
 * Anything less is a reward of 0, and the evidence says why (`refused`): whether a script goes on can hang on what the agent
 * left, and what an agent leaves is never a fault. So tests that pass for nobody are not found by faults: play the answer
 * that solves the task (a scripted policy), and see it earn 1. Only a runner that could not start, also without the agent's
 * files, is a fault of the grader (`checks_missing`).
 *
 * Throws `options_invalid` for tests without the script or without a name to expect, faults of owner `sandbox`, the fault
 * `checks_invalid` for scripts with arithmetic, which runs what an agent wrote (compare with `[ "$n" -eq 42 ]`), and
 * `checks_need_walls` in boxes that keep nothing in or have no bash of their own (`process`, `bash`); an environment
 * says so beforehand with `sandbox: { drivers: ['bwrap', 'docker', 'podman'] }`.
 *
 * @example
 * rewards: {
 *   solved: ({ sandbox, task }) =>
 *     runChecks(sandbox, { tests: { 'test.sh': task.secret.test }, expected: ['report-exists', 'total-right'] }),
 * }
 */
export async function runChecks(sandbox: GradingSandbox, options: ChecksOptions): Promise<Graded> {
  const plan = planOf(options)
  const first = await runOnce(sandbox, plan, options.box ?? {})
  const { report, evidence } = first
  if (!report.begun) {
    const without = await runOnce(sandbox, plan, { ...options.box, artefacts: 'none' })
    if (!without.report.begun) return graded(plan, 0, evidence, 0)
  }
  // Where and whether tests stop is for the agent's files to decide, and so is never what takes an attempt out of the rate.
  if (!report.ended) return graded(plan, 0, { ...evidence, refused: 'did_not_end' }, plan.expected.length)
  if (evidence.refused === 'tests_changed') return graded(plan, 0, evidence, plan.expected.length)
  const passed = plan.expected.filter((name) => report.passed.has(name)).length
  const value =
    options.score === 'share'
      ? passed / plan.expected.length
      : Number(report.clean && passed === plan.expected.length)
  return graded(plan, value, evidence, plan.expected.length)
}

function withoutWalls(driver: string): FaultError {
  return new FaultError({
    owner: 'grader',
    code: 'checks_need_walls',
    message: `tests run by runChecks need boxes with walls and a bash of their own, and ${driver} has none; declare sandbox: { drivers: ['bwrap', 'docker', 'podman'] }, so that a run is refused before it starts, and name one of them with --sandbox`,
    retryable: false,
  })
}

function withArithmetic(path: string, { what, line }: { what: string; line: number }): FaultError {
  return new FaultError({
    owner: 'grader',
    code: 'checks_invalid',
    message: `the test ${path} has ${what} in line ${line}: bash takes text there for arithmetic, and runs commands that an agent wrote into it; compare text with [ "$x" = 42 ] or [ "$x" -eq 42 ], count with seq or expr`,
    retryable: false,
  })
}

interface Plan {
  tests: Record<string, BoxFileContent>
  digest: string
  expected: readonly string[]
  script: string
  seconds: number
  wallMs: number
}

function planOf({
  tests,
  expected,
  script = 'test.sh',
  root = '/tests',
  checkMs = 10_000,
  wallMs = 60_000,
}: ChecksOptions): Plan {
  const refuse = (what: string): never => {
    throw new QuintainError('options_invalid', `runChecks: ${what}`)
  }
  if (!root.startsWith('/')) refuse('root is no absolute path.')
  if (!Object.hasOwn(tests, script)) refuse(`there is no ${script} among the tests.`)
  if (expected.length === 0) refuse('name the checks that are expected; a pass needs evidence.')
  if (new Set(expected).size < expected.length) refuse('a check is expected twice.')
  if (expected.some((name) => name.trim() !== name || name === '' || /[\n\r]/.test(name)))
    refuse('the name of a check is one line without blanks at its ends.')
  for (const [path, content] of Object.entries(tests)) {
    const text = Buffer.from(bytesOf(content)).toString('utf8')
    const found = path === script || isShellScript(path, text) ? arithmeticIn(text) : undefined
    if (found !== undefined) throw withArithmetic(path, found)
  }
  const placed = Object.entries(tests).map(([path, content]) => {
    const at = posix.join(root, path)
    if (!at.startsWith(`${posix.normalize(root)}/`)) refuse(`the test ${path} is outside of its folder.`)
    return [at, content] as const
  })
  return {
    tests: Object.fromEntries(placed),
    digest: testsDigest(placed),
    expected,
    script: posix.join(root, script),
    seconds: Math.max(1, Math.ceil(checkMs / 1000)),
    wallMs,
  }
}

function bytesOf(content: BoxFileContent): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return content
  return 'link' in content ? Buffer.from(`link ${content.link}`) : bytesOf(content.data)
}

function testsDigest(files: readonly (readonly [string, BoxFileContent])[]): string {
  const sorted = files.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return framedDigest(sorted.flatMap(([path, content]) => [path, bytesOf(content)]))
}

async function runOnce(
  sandbox: GradingSandbox,
  plan: Plan,
  options: GradingBoxOptions,
): Promise<{ report: ChecksReport; evidence: Evidence }> {
  const box = await sandbox.start({ ...options, readOnlyFiles: { ...plan.tests, ...runnerFiles } })
  const say = box.talk?.bind(box, talk)
  if (box.isolation === 'none' || box.isolation === 'memory' || say === undefined) {
    await box.stop()
    throw withoutWalls(box.driver)
  }
  const programs = new GradedPrograms(
    () => sandbox.start({ artefacts: 'writable', ...options }),
    plan.seconds * 1000,
  )
  const reader = new ReportReader(plan.expected)
  const over = new AbortController()
  try {
    const command = ['bash', '--norc', '--noprofile', '-c', runnerCommand, 'checks']
    const running = box.exec([...command, String(plan.seconds), plan.script], {
      talk,
      stdin: reader.numbers,
      wallMs: Math.min(plan.wallMs, shareOfBudget * (sandbox.wallMs ?? Number.POSITIVE_INFINITY)),
      env: { ...gradingEnv, ...options.env },
      signal: over.signal,
    })
    const [end] = await Promise.all([running, converse(say, reader, programs)])
    const told = reader.report()
    // Whoever killed the runner could have let it say its last word; how it ended is known from outside.
    const report = { ...told, ended: told.ended && end.exitCode === 0 && !end.timedOut }
    const changed = !(await isUnchanged(box, plan))
    const missing = plan.expected.filter((name) => !report.passed.has(name) && !report.failed.has(name))
    return {
      report,
      evidence: {
        tests: plan.digest,
        driver: box.driver,
        isolation: box.isolation,
        failed: [...report.failed],
        missing,
        ...(changed
          ? { refused: 'tests_changed' as const }
          : missing.length > 0
            ? { refused: 'checks_missing' as const }
            : {}),
        end: { exitCode: end.exitCode, signal: end.signal, timedOut: end.timedOut },
        output: end.stderr.slice(-outputKept),
      },
    }
  } finally {
    // A script that waits for a program whose box has failed would wait for ever.
    over.abort()
    await Promise.all([programs.close(), box.stop()])
  }
}

/** Hears the runner out, and answers what it asks for. */
async function converse(
  say: (input: string) => Promise<Said>,
  reader: ReportReader,
  programs: GradedPrograms,
): Promise<void> {
  const messages = new MessageReader()
  for (let answers = ''; ; ) {
    const said = await say(answers)
    answers = ''
    for (const message of messages.take(said.output)) {
      if (message.type === 'call') answers += answerLine(await programs.answer(message))
      else reader.take(message)
    }
    if (said.ended) return
  }
}

/** Whether the tests are, after they ran, what they were before; with nothing beside them. */
async function isUnchanged(box: Box, { tests, digest, script }: Plan): Promise<boolean> {
  const root = rootOf(Object.keys(tests), posix.dirname(script))
  const { entries } = await box.snapshot([root])
  const found = entries.flatMap((entry): [string, BoxFileContent][] => {
    if (entry.kind === 'file') return [[entry.path, entry.data]]
    return entry.kind === 'link' ? [[entry.path, { link: entry.target }]] : []
  })
  return testsDigest(found) === digest
}

/** The folder that all paths are in. */
function rootOf(paths: readonly string[], start: string): string {
  let root = start
  while (!paths.every((path) => path.startsWith(`${root}/`))) root = posix.dirname(root)
  return root
}

function graded(plan: Plan, value: number, evidence: Evidence, run: number): Graded {
  return { value, checks: { expected: plan.expected.length, run }, explain: evidence }
}
