import type { TestStatus } from './test-status.ts'

/** What a log says of one test: its status, that it is not there, or that it cannot be said which of several it is. */
export type FoundTest = { status: TestStatus; name: string } | { status: 'missing' | 'ambiguous' }

/**
 * Looks a test up by the id that a data set gives. Such lists were often made by splitting at blanks, so that an id with
 * parameters is cut off inside its bracket: it then stands for the tests that begin with it. Where those disagree, none
 * is picked. A log whose own names are cut off like that is ambiguous too, since one name may stand for several tests.
 */
export function findTest(expected: string, seen: ReadonlyMap<string, TestStatus>): FoundTest {
  const exact = seen.get(expected)
  if (isCutOff(expected)) {
    const longer = [...seen].filter(([name]) => name !== expected && name.startsWith(expected))
    const statuses = new Set(longer.map(([, status]) => status))
    if (exact !== undefined) statuses.add(exact)
    if (statuses.size > 1) return { status: 'ambiguous' }
    const [status] = statuses
    if (status !== undefined) return { status, name: exact === undefined ? longer[0]![0] : expected }
    return { status: 'missing' }
  }
  if (exact !== undefined) return { status: exact, name: expected }
  const cut = cutOffIn(seen).some((name) => expected.startsWith(name))
  return { status: cut ? 'ambiguous' : 'missing' }
}

/** An id whose parameters begin and do not end. */
function isCutOff(id: string): boolean {
  return id.includes('[') && !id.endsWith(']')
}

/** Names of a log that are cut off, looked for once: both log and list may be long. */
const known = new WeakMap<ReadonlyMap<string, TestStatus>, { size: number; cut: string[] }>()

function cutOffIn(seen: ReadonlyMap<string, TestStatus>): string[] {
  const before = known.get(seen)
  if (before?.size === seen.size) return before.cut
  const cut = [...seen.keys()].filter(isCutOff)
  known.set(seen, { size: seen.size, cut })
  return cut
}
