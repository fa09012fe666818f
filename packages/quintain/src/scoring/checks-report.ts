/** What came back of one run of the tests. */
export interface ChecksReport {
  /** The tests were begun, and their script came to its end. */
  begun: boolean
  ended: boolean
  /** Whether a check passed, by name; one that is reported twice passes only if it does so both times. */
  checks: ReadonlyMap<string, boolean>
}

/** Reads the lines of the runner: those that begin with the number of this grading. All others may be anybody's. */
export function readChecks(output: string, nonce: string): ChecksReport {
  const checks = new Map<string, boolean>()
  let begun = false
  let count: number | undefined
  let lines = 0
  for (const line of output.split('\n')) {
    if (!line.startsWith(`${nonce} `)) continue
    const said = line.slice(nonce.length + 1)
    const check = /^(not )?ok (.+)$/.exec(said)
    const end = /^end (\d+)$/.exec(said)
    if (said === 'begin') begun = true
    else if (check !== null) {
      lines++
      const name = check[2]!
      checks.set(name, (checks.get(name) ?? true) && check[1] === undefined)
    } else if (end !== null) count = Number(end[1])
  }
  return { begun, ended: count !== undefined && count === lines, checks }
}
