import type { GradingSandbox } from 'quintain'
import type { Check } from './task-folder.ts'
import { workdir } from './terminal.ts'

/** How one hidden test ended. Quotes what is right, so it is private. */
export interface Checked {
  name: string
  passed: boolean
  printed: string
  complained: string
  exitCode: number | null
  timedOut: boolean
}

/** Longest that a test may take, and the most that it may print. */
const checkMs = 30_000
const outputBytes = 65_536
/** Of what a test printed, this much is kept as evidence. */
const kept = 4_000

/** Settings that a box has or lacks must not change what the tests print. */
const env = { LC_ALL: 'C.UTF-8', TZ: 'UTC' }

/**
 * Runs the hidden tests over what the agent left, each in a fresh box that holds the artefacts and nothing else.
 *
 * A test passes when it prints what is right, byte for byte. What is right never enters a box: code of the agent's that
 * runs in a test may end it, answer for it or take the whole box over, and still does not know what to print. Nor does
 * what it leaves behind reach the next test.
 */
export async function runTests(sandbox: GradingSandbox, checks: readonly Check[]): Promise<Checked[]> {
  const results: Checked[] = []
  // One after another: an attempt has one box at a time.
  for (const { name, script, expected } of checks) {
    const box = await sandbox.start({ workdir })
    try {
      const end = await box.exec(['bash', '-c', script], { env, wallMs: checkMs, outputBytes })
      results.push({
        name,
        passed: !end.timedOut && !end.truncated.stdout && end.stdout === expected,
        printed: end.stdout.slice(0, kept),
        complained: end.stderr.slice(-kept),
        exitCode: end.exitCode,
        timedOut: end.timedOut,
      })
    } finally {
      await box.stop()
    }
  }
  return results
}
