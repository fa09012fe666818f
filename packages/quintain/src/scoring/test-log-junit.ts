import type { ReadLog } from './test-log.ts'
import { type XmlTag, xmlAttributes, xmlTags } from './test-log-xml.ts'
import { type TestStatus, TestStatuses, testStatusOf, worseStatus } from './test-status.ts'

/** A test that passed at its second try has failed at its first: it shows nothing. */
const outcomes: ReadonlyMap<string, TestStatus> = new Map([
  ['failure', 'failed'],
  ['rerunFailure', 'failed'],
  ['flakyFailure', 'failed'],
  ['error', 'error'],
  ['rerunError', 'error'],
  ['flakyError', 'error'],
  ['skipped', 'skipped'],
  ['disabled', 'skipped'],
])

/** Words by which runners say in an attribute that a case did not run; `run` and `completed` say nothing of its end. */
const notRun = new Set(['notrun', 'suppressed', 'inconclusive', 'notexecuted', 'notrunnable', 'blocked'])

/**
 * Reads JUnit's XML, as most runners write it. Tests are named `classname::name`, or by their name alone where there is
 * no class name. A `testcase` counts in a suite, at any depth, and nowhere else, not in the captured output of another; one
 * that does not end is not counted: it may have been cut off before its failure. Its outcome is the worst of what
 * its attributes and children say.
 */
export function readJunitXml(text: string): ReadLog {
  const tests = new TestStatuses()
  const tags = xmlTags(text)
  let declared: number | undefined
  /** Names of the elements round the present place. */
  const inside: string[] = []
  let open: { name: string; status: TestStatus } | undefined
  let next = tags.next()
  for (; next.done !== true; next = tags.next()) {
    const tag = next.value
    if (tag.kind === 'end') {
      inside.pop()
      if (open === undefined || !inside.every(isSuite)) continue
      tests.report(open.name, open.status)
      open = undefined
      continue
    }
    const attributes = isRead(tag) ? xmlAttributes(tag.attributes) : new Map<string, string>()
    if (attributes === undefined) return { tests, problem: 'not_well_formed' }
    if (inside.every(isSuite)) {
      if (tag.name === 'testsuite' && !inside.includes('testsuite')) {
        // A suite in a suite is counted by the outer.
        const count = /^\d{1,15}$/.exec(attributes.get('tests') ?? '')
        if (count !== null) declared = (declared ?? 0) + Number(count[0])
      } else if (tag.name === 'testcase') {
        open = { name: nameOf(attributes), status: statusOf(attributes) }
        if (tag.closed) {
          tests.report(open.name, open.status)
          open = undefined
        }
      }
    } else if (open !== undefined && inside.at(-1) === 'testcase') {
      const xfailed = tag.name === 'skipped' && attributes.get('type') === 'pytest.xfail'
      const outcome = xfailed ? 'xfailed' : outcomes.get(tag.name)
      if (outcome !== undefined) open.status = worseStatus(open.status, outcome)
    }
    if (!tag.closed) inside.push(tag.name)
  }
  const problem = next.value
  // What stands in a document with a type of its own may mean something else.
  if (problem === 'has_dtd') return { tests: new TestStatuses(), problem }
  return {
    tests,
    ...(declared === undefined ? {} : { declared }),
    ...(problem === undefined ? {} : { problem }),
  }
}

function isSuite(name: string): boolean {
  return name === 'testsuite' || name === 'testsuites'
}

function isRead({ name }: XmlTag): boolean {
  return name === 'testsuite' || name === 'testcase' || outcomes.has(name)
}

type Attributes = ReadonlyMap<string, string>

function nameOf(attributes: Attributes): string {
  const [name, of] = [attributes.get('name') ?? '', attributes.get('classname') ?? '']
  return of === '' ? name : `${of}::${name}`
}

/** What the attributes of a case say. Where they say nothing it has passed, unless a child says otherwise. */
function statusOf(attributes: Attributes): TestStatus {
  let status: TestStatus = 'passed'
  for (const key of ['status', 'result']) {
    const word = (attributes.get(key) ?? '').toLowerCase()
    status = worseStatus(status, notRun.has(word) ? 'skipped' : (testStatusOf(word) ?? 'passed'))
  }
  if (/^false$/i.test(attributes.get('executed') ?? '')) status = worseStatus(status, 'skipped')
  if (/^false$/i.test(attributes.get('success') ?? '')) status = worseStatus(status, 'failed')
  return status
}
