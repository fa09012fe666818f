import type { ReadLog } from './test-log.ts'
import { TestStatuses, testStatusOf } from './test-status.ts'

/** Reads `cargo test`. With `--nocapture`, what a test prints may stand between its name and its status. */
export function readCargoLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  let open: string | undefined
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    const whole = /^test (.+?) \.\.\. (ok|FAILED|ignored)\b/.exec(line)
    const alone = /^(ok|FAILED)$/.exec(line)
    if (whole !== null) {
      tests.report(nameOf(whole[1]!), testStatusOf(whole[2]!))
      open = undefined
    } else if (alone !== null && open !== undefined) {
      tests.report(open, testStatusOf(alone[1]!))
      open = undefined
    } else {
      const begun = /^test (.+?) \.\.\. /.exec(`${line} `)
      if (begun !== null) open = nameOf(begun[1]!)
    }
    const result = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/.exec(line)
    if (result !== null)
      declared = (declared ?? 0) + Number(result[1]) + Number(result[2]) + Number(result[3])
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}

function nameOf(text: string): string {
  return text.replace(/ - should panic$/, '')
}
