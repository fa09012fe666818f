import type { ReadLog } from './test-log.ts'
import { TestStatuses } from './test-status.ts'

const point = /^( *)(not )?ok\b\s*(\d+)?\s*(?:-\s*)?(.*)$/
/** What Vitest and node-tap put behind a description: how long it took, and that what is in it follows. */
const timing = /\s#\s*time=[\d.]+m?s$/
const directive = /(?:^|\s)#\s*(skip|todo)\b.*$/i

/**
 * Reads the Test Anything Protocol, versions 12 to 14. A test inside another is named after both, `outer > inner`; one
 * without a description by its number. `# TODO` is a failure that was expected, and a test that bailed out ran no more.
 */
export function readTapLog(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  /** Subtests that are open, by depth. */
  const outer: string[] = []
  let yaml: string | undefined
  let bailedOut = false
  for (const line of text.split('\n')) {
    if (yaml !== undefined) {
      if (line === `${yaml}...`) yaml = undefined
      continue
    }
    const block = /^( *)---\s*$/.exec(line)
    if (block !== null) {
      yaml = block[1]!
      continue
    }
    const subtest = /^( *)# Subtest: (.*)$/.exec(line)
    if (subtest !== null) {
      // Node writes the comment at the depth of the outer test, TAP 14 may indent it.
      const depth = Math.floor(subtest[1]!.length / 4)
      outer.length = Math.min(outer.length, depth)
      outer[depth] = subtest[2]!.trim()
      continue
    }
    if (/^Bail out!/i.test(line)) bailedOut = true
    const plan = /^1\.\.(\d{1,15})(?!\d)/.exec(line)
    if (plan !== null) declared = Number(plan[1])
    const found = point.exec(line)
    if (found === null) continue
    const depth = Math.floor(found[1]!.length / 4)
    const hasInner = /\s\{$/.test(found[4]!)
    const given = (hasInner ? found[4]!.slice(0, -1).trimEnd() : found[4]!).replace(timing, '')
    const word = directive.exec(given)?.[1]?.toLowerCase()
    const own = given.replace(directive, '').trim() || found[3] || ''
    const name = [...outer.slice(0, depth), own].filter((part) => part !== undefined).join(' > ')
    if (hasInner) {
      outer.length = Math.min(outer.length, depth)
      outer[depth] = own
    }
    const ok = found[2] === undefined
    tests.report(
      name,
      word === 'skip' ? 'skipped' : word === 'todo' ? (ok ? 'xpassed' : 'xfailed') : ok ? 'passed' : 'failed',
    )
  }
  return {
    tests,
    ...(declared === undefined ? {} : { declared }),
    ...(bailedOut ? { problem: 'cut_off' } : {}),
  }
}
