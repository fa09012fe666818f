import type { ReadLog } from './test-log.ts'
import { TestStatuses } from './test-status.ts'

/** Reads the progress of karma, which counts and names only what failed: `Executed 3 of 5 (1 FAILED)`. */
export function readKarmaLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  let declaredFailed = 0
  for (const line of text.split('\n')) {
    const failed = /^(.*\S) FAILED$/.exec(line.trim())
    if (failed !== null && !/^Executed \d/.test(failed[1]!)) tests.report(failed[1]!, 'failed')
    for (const [, executed, failures] of line.matchAll(/Executed (\d+) of \d+(?: \((\d+) FAILED\))?/g)) {
      declared = Number(executed)
      // Browsers take turns in telling how far they are.
      declaredFailed = Math.max(declaredFailed, Number(failures ?? 0))
    }
  }
  return { tests, ...(declared === undefined ? {} : { declared, declaredFailed }) }
}
