import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolveTests } from './resolve-tests.ts'
import { parseTestLog } from './test-log.ts'

function read(text: string) {
  const { tests, declared, problem } = parseTestLog(text, 'junit')
  return { tests: Object.fromEntries(tests), declared, problem }
}

const suite = (cases: string) => `<testsuites><testsuite name="s">${cases}</testsuite></testsuites>`

describe('hostile documents', () => {
  test('a document type is refused, with whatever stands beside it', () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join(
      '',
    )
    for (const bomb of [
      `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">${laughs}]>${suite('<testcase name="&l9;"/>')}`,
      `<!doctype x SYSTEM "file:///etc/passwd">${suite('<testcase name="a"/>')}`,
      `${suite('<testcase name="a"/>')}<!DOCTYPE x>`,
    ])
      expect(read(bomb)).toEqual({ tests: {}, declared: undefined, problem: 'has_dtd' })
    const log = parseTestLog(`<!DOCTYPE x>${suite('<testcase name="a"/>')}`, 'junit')
    expect(resolveTests({ failToPass: ['a'], passToPass: [], log })).toMatchObject({ reason: 'log_damaged' })
  })

  test('entities that are not declared are text, and none is read twice', () => {
    expect(read(suite('<testcase name="&amp;lt;&x;&#65;&#x42;&#x110000;"/>')).tests).toEqual({
      '&lt;&x;AB&#x110000;': 'passed',
    })
  })

  test('depth ends the reading, whatever its size', () => {
    const deep = read(`${suite('<testcase name="a"/>')}${'<testsuite>'.repeat(1_000_000)}`)
    expect(deep).toMatchObject({ tests: { a: 'passed' }, problem: 'too_deep' })
  })

  test.each([
    ['comments that never end', '<!--'],
    ['character data that never ends', '<![CDATA['],
    ['instructions that never end', '<?'],
    ['quotes that never end', '<a b="'],
    ['tags that never end', '<a '],
    ['attributes without values', '<testcase a'],
    ['end tags', '</testcase>'],
    ['brackets', '<'],
    ['blanks in a tag', '<testcase                '],
  ])('%s, many times over, pass nothing', (_what, piece) => {
    const text = `<testsuite><testcase name="open">${piece.repeat(400_000)}`
    expect(read(text)).toMatchObject({ tests: {} })
    expect(read(text).problem).toBeDefined()
  })

  test('a document that breaks off says so, and shows no pass', () => {
    const log = parseTestLog('<testsuite><testcase name="a"/><testcase name="b">', 'junit')
    expect([Object.fromEntries(log.tests), log.problem]).toEqual([{ a: 'passed' }, 'cut_off'])
    expect(resolveTests({ failToPass: ['a'], passToPass: [], log, exitCode: 0 })).toMatchObject({
      resolved: false,
      reason: 'log_damaged',
    })
  })
})

describe('cases that are none', () => {
  test.each([
    ['in character data', '<system-out><![CDATA[<testcase name="x"/>]]></system-out>'],
    ['in a comment', '<!-- <testcase name="x"/> -->'],
    ['printed raw into output', '<system-out><testcase name="x"/></system-out>'],
    ['in a case', '<testcase name="x"/>'],
    ['in a suite in output', '<system-err><testsuite><testcase name="x"/></testsuite></system-err>'],
    ['in a property', '<properties><property name="p" value="<testcase name=\'x\'/>"/></properties>'],
    ['in an instruction', '<?x <testcase name="x"/> ?>'],
  ])('%s', (_where, inner) => {
    expect(read(suite(`<testcase name="real">${inner}</testcase>`)).tests).toEqual({ real: 'passed' })
    const beside = inner.startsWith('<testcase') ? '' : inner
    expect(read(suite(`${beside}<testcase name="real"/>`)).tests).toEqual({ real: 'passed' })
  })
})

describe('outcomes', () => {
  const outcome = (attributes: string, children = '') =>
    read(suite(`<testcase name="a" ${attributes}>${children}</testcase>`)).tests['a']

  test.each([
    ['status="run" result="completed"', '', 'passed'],
    ['status="notrun" result="suppressed"', '', 'skipped'],
    ['result="skipped"', '', 'skipped'],
    ['status="failed"', '', 'failed'],
    ['executed="False"', '', 'skipped'],
    ['success="False"', '', 'failed'],
    ['status="passed"', '<failure/>', 'failed'],
    ['', '<failure/><skipped/>', 'failed'],
    ['', '<skipped/><error/>', 'error'],
    ['', '<skipped type="pytest.xfail" message="known"/>', 'xfailed'],
    ['', '<failure type="pytest.xfail"/>', 'failed'],
    ['', '<flakyFailure/>', 'failed'],
    ['', '<system-out><failure/></system-out>', 'passed'],
  ])('%s %s: %s', (attributes, children, status) => {
    expect(outcome(attributes, children)).toBe(status)
  })

  test('a name with two outcomes has the worse, in whatever order and suite', () => {
    const [good, bad] = ['<testcase name="a"/>', '<testcase name="a"><failure/></testcase>']
    for (const cases of [good + bad, bad + good, `${bad}</testsuite><testsuite>${good}`])
      expect(read(suite(cases)).tests).toEqual({ a: 'failed' })
  })

  test('an attribute that is there twice ends the reading', () => {
    expect(read(suite('<testcase name="a" name="b"/>'))).toMatchObject({
      tests: {},
      problem: 'not_well_formed',
    })
  })
})

test('namespaces, suites in suites, several documents, and what is declared', () => {
  const text = `<?xml version="1.0"?>
<j:testsuites xmlns:j="urn:j" tests="3"><j:testsuite tests="2"><j:testsuite tests="2">
<j:testcase j:name="no" name="a" classname="c"/><j:testcase name='b "q"'/></j:testsuite></j:testsuite></j:testsuites>
<?xml version="1.0"?><testsuites><testsuite tests="1"><testcase name="d"/></testsuite></testsuites>`
  expect(read(`\ufeff${text}`)).toEqual({
    tests: { 'c::a': 'passed', 'b "q"': 'passed', d: 'passed' },
    declared: 3,
    problem: undefined,
  })
})

test('names come back as they were written, and cut documents never report what did not end', () => {
  const escaped = (name: string) =>
    name.replace(/[&<>"'\r\n]/g, (character) => `&#${String(character.codePointAt(0))};`)
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
      fc.nat(),
      (names, at) => {
        const cases = names.map((name) => `<testcase name="${escaped(name)}"><failure/></testcase>`)
        const text = suite(cases.join(''))
        // Colours are taken out of every log.
        fc.pre(!text.includes('\u001b'))
        expect([...parseTestLog(text, 'junit').tests.keys()]).toEqual(names)
        const cut = parseTestLog(text.slice(0, at % text.length), 'junit')
        expect([...cut.tests.values()]).not.toContain('passed')
      },
    ),
  )
})
