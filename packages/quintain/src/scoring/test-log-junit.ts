import type { ReadLog } from './test-log.ts'
import { type TestStatus, TestStatuses } from './test-status.ts'

/** Comments, character data and processing instructions, which may hold anything; then tags. */
const token =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<(\/?)([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/g
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name)] ?? whole
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

function attributesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(attribute)].map(([, name, double, single]) => [name, decoded(double ?? single ?? '')]),
  )
}

/**
 * Reads JUnit's XML, as most runners write it. Tests are named `classname::name`, or by their name alone where there is
 * no class name. A `testcase` that does not end is not counted: it may have been cut off before its failure.
 */
export function readJunitXml(text: string): ReadLog {
  const tests = new TestStatuses()
  let declared: number | undefined
  let open: { name: string; status: TestStatus } | undefined
  for (const [, closing, tag, attributes = '', empty] of text.matchAll(token)) {
    if (tag === undefined) continue
    if (tag === 'testsuite' && closing === '') {
      const { tests: count } = attributesIn(attributes)
      if (count !== undefined && /^\d+$/.test(count)) declared = (declared ?? 0) + Number(count)
    } else if (tag === 'testcase') {
      if (closing === '/') {
        if (open !== undefined) tests.report(open.name, open.status)
        open = undefined
        continue
      }
      const { name = '', classname = '' } = attributesIn(attributes)
      open = { name: classname === '' ? name : `${classname}::${name}`, status: 'passed' }
      if (empty === '/') {
        tests.report(open.name, open.status)
        open = undefined
      }
    } else if (open !== undefined && closing === '') {
      if (tag === 'failure') open.status = 'failed'
      else if (tag === 'error') open.status = 'error'
      else if (tag === 'skipped' && open.status === 'passed') open.status = 'skipped'
    }
  }
  return { tests, ...(declared === undefined ? {} : { declared }) }
}
