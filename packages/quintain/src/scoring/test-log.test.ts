import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findTest } from './find-test.ts'
import { patchText } from './patch-text.ts'
import { relativeDaysIn } from './relative-day.ts'
import { resolveTests } from './resolve-tests.ts'
import { parseTestLog, type TestLogDialect, testLogDialects } from './test-log.ts'

function read(dialect: TestLogDialect, lines: readonly string[]) {
  const { tests, declared } = parseTestLog(lines.join('\n'), dialect)
  return { tests: Object.fromEntries(tests), declared }
}

describe('pytest', () => {
  test('reads verbose lines, xdist, the short summary and the last line', () => {
    const found = read('pytest', [
      'tests/test_a.py::test_one PASSED                    [ 50%]',
      'tests/test_a.py::TestB::test_two[x - y] FAILED      [100%]',
      '[gw1] [ 60%] PASSED tests/test_a.py::test_three',
      '=== short test summary info ===',
      'PASSED tests/test_a.py::test_one',
      'FAILED tests/test_a.py::TestB::test_two[x - y] - AssertionError: 1 - 2',
      'SKIPPED [1] tests/test_a.py:7: not today',
      'ERROR tests/test_b.py - ModuleNotFoundError: x',
      'XFAIL tests/test_a.py::test_four - known',
      '=== 1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error in 0.12s ===',
    ])
    expect(found).toEqual({
      tests: {
        'tests/test_a.py::test_one': 'passed',
        'tests/test_a.py::TestB::test_two[x - y]': 'failed',
        'tests/test_a.py::test_three': 'passed',
        'tests/test_b.py': 'error',
        'tests/test_a.py::test_four': 'xfailed',
      },
      declared: 6,
    })
  })

  test('keeps parameters with blanks whole, and colours out', () => {
    const { tests } = read('pytest', ['\u001b[32mPASSED\u001b[0m a.py::test_p[log(photon /s)]'])
    expect(tests).toEqual({ 'a.py::test_p[log(photon /s)]': 'passed' })
  })

  test('finds a status that other output pushed to a line of its own', () => {
    expect(read('pytest', ['a.py::test_x some output', 'more', 'FAILED      [100%]']).tests).toEqual({
      'a.py::test_x': 'failed',
    })
  })

  test('a printed pass does not make up for a failure', () => {
    const { tests } = read('pytest', ['FAILED a.py::test_x - assert 0', 'PASSED a.py::test_x'])
    expect(tests).toEqual({ 'a.py::test_x': 'failed' })
  })

  test.each([
    ["SUBFAILED(i='x y') a.py::C::test_sub - AssertionError: 1 == 1", 'a.py::C::test_sub PASSED [100%]'],
    ['[gw1] [ 91%] SUBFAILED[a message] (i=1) a.py::C::test_sub', 'PASSED a.py::C::test_sub'],
    ['a.py::C::test_sub SUBFAIL [ 50%]', 'a.py::C::test_sub PASSED [100%]'],
    ['[gw0] [ 41%] RERUN a.py::C::test_sub', '[gw0] [ 50%] PASSED a.py::C::test_sub'],
  ])('a test is no pass of which a part or a try failed: %s', (failed, passed) => {
    for (const lines of [
      [failed, passed],
      [passed, failed],
    ])
      expect(read('pytest', lines).tests).toEqual({ 'a.py::C::test_sub': 'failed' })
    expect(read('pytest', ["SUBPASSED(i='0') a.py::t", 'PASSED a.py::t']).tests).toEqual({
      'a.py::t': 'passed',
    })
  })

  test('says that nothing ran', () => {
    expect(read('pytest', ['=== no tests ran in 0.01s ===']).declared).toBe(0)
  })
})

test('unittest and Django: docstrings, output in between, headings of failures', () => {
  const found = read('django', [
    'test_one (app.tests.A) ... ok',
    'test_two (app.tests.A)',
    'Says what it does ... FAIL',
    'test_three (app.tests.A) ... Testing against Django',
    'some noise',
    'ok',
    "test_four (app.tests.A) ... skipped 'no database'",
    'FAIL: test_five (app.tests.A)',
    'Ran 5 tests in 0.2s',
  ])
  expect(found).toEqual({
    tests: {
      'test_one (app.tests.A)': 'passed',
      'test_two (app.tests.A)': 'failed',
      'test_three (app.tests.A)': 'passed',
      'test_four (app.tests.A)': 'skipped',
      'test_five (app.tests.A)': 'failed',
    },
    declared: 5,
  })
})

test('unittest: a test is what its worst subtest is', () => {
  const { tests } = read('unittest', [
    'test_sub (a.C.test_sub) ... ',
    '  test_sub (a.C.test_sub) [m x] (i=1) ... FAIL',
    'test_old (a.C) ... ok',
    'FAIL: test_old (a.C) (i=1)',
  ])
  expect(tests).toMatchObject({ 'test_sub (a.C.test_sub)': 'failed', 'test_old (a.C)': 'failed' })
})

test('TAP: subtests, directives, yaml that looks like a result, the plan', () => {
  const found = read('tap', [
    'TAP version 13',
    '# Subtest: outer',
    '    # Subtest: inner',
    '    ok 1 - inner',
    '      ---',
    '      text: |',
    'ok 9 - not a test',
    '      ...',
    '    not ok 2 - broken',
    '    1..2',
    'not ok 1 - outer',
    'ok 2 - later # SKIP no network',
    'not ok 3 - some day # TODO',
    'ok 4',
    '1..4',
  ])
  expect(found).toEqual({
    tests: {
      'outer > inner': 'passed',
      'outer > broken': 'failed',
      outer: 'failed',
      later: 'skipped',
      'some day': 'xfailed',
      '4': 'passed',
    },
    declared: 4,
  })
})

test('TAP of Vitest: names without times, in those that they are in', () => {
  const { tests } = read('tap', [
    'TAP version 13',
    '1..1',
    'not ok 1 - a.test.ts # time=6.98ms {',
    '    1..2',
    '    ok 1 - group # time=1.43ms {',
    '        1..1',
    '        ok 1 - works # time=0.1s',
    '    }',
    '    not ok 2 - breaks # time=3.78ms',
    '}',
  ])
  expect(tests).toEqual({
    'a.test.ts': 'failed',
    'a.test.ts > group': 'passed',
    'a.test.ts > group > works': 'passed',
    'a.test.ts > breaks': 'failed',
  })
})

test('JUnit: failures, errors, skips, entities, character data, a case that was cut off', () => {
  const found = read('junit', [
    '<?xml version="1.0"?><testsuites><testsuite name="s" tests="5">',
    '<testcase classname="a.B" name="one &lt;1&gt;" time="0.1"/>',
    '<testcase classname="a.B" name="two"><failure message="x > y">no</failure></testcase>',
    '<testcase name="three"><skipped/></testcase>',
    '<testcase name="four"><system-out><![CDATA[<testcase name="forged"/>]]></system-out><error/></testcase>',
    '<!-- <testcase name="comment"/> -->',
    '<testcase name="five"><system-out>',
  ])
  expect(found).toEqual({
    tests: { 'a.B::one <1>': 'passed', 'a.B::two': 'failed', three: 'skipped', four: 'error' },
    declared: 5,
  })
})

test('go: plain, behind output, and events', () => {
  const found = read('go', [
    '=== RUN   TestA',
    'no newline--- PASS: TestA (0.00s)',
    '    --- FAIL: TestA/case_1 (0.00s)',
    '{"Action":"skip","Package":"p","Test":"TestB"}',
    '{"Action":"output","Package":"p","Test":"TestC","Output":"--- PASS: x"}',
    '{broken',
  ])
  expect(found.tests).toEqual({ TestA: 'passed', 'TestA/case_1': 'failed', TestB: 'skipped' })
})

test('go: what a test printed is no result', () => {
  const events = [
    '{"Action":"output","Package":"p","Test":"TestC","Output":"--- PASS: TestX (0.00s)\\n"}',
    '{"Action":"fail","Package":"p","Test":"TestC"}',
    '{"Action":"fail","Package":"p"}',
  ]
  expect(read('go', events).tests).toEqual({ TestC: 'failed' })
  expect(read('go-json', [...events, '--- PASS: TestX (0.00s)']).tests).toEqual({ TestC: 'failed' })
})

test('a TAP stream that bailed out, and JSON that breaks off, are damaged', () => {
  expect(parseTestLog('ok 1 - a\nBail out! no database', 'tap').problem).toBe('cut_off')
  expect(parseTestLog('{"testResults":[', 'vitest-json').problem).toBe('not_well_formed')
  expect(parseTestLog('', 'vitest-json').problem).toBeUndefined()
})

test('cargo, jest, mocha, karma', () => {
  expect(
    read('cargo', [
      'test a::b ... ok',
      'test a::c ... printed',
      'FAILED',
      'test d ... ignored',
      'test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured',
    ]),
  ).toEqual({ tests: { 'a::b': 'passed', 'a::c': 'failed', d: 'skipped' }, declared: 3 })
  expect(
    read('jest', [
      '  ✓ adds (3 ms)',
      '  ✕ breaks',
      '  ○ skipped later',
      'Tests:  1 failed, 1 passed, 3 total',
    ]),
  ).toEqual({ tests: { adds: 'passed', breaks: 'failed', later: 'skipped' }, declared: 3 })
  expect(
    read('vitest', [' ✓ src/a.test.ts (2 tests) 5ms', ' ✓ src/a.test.ts > group > works 2ms']).tests,
  ).toEqual({
    'src/a.test.ts > group > works': 'passed',
  })
  expect(read('mocha', ['    ✔ adds (12ms)', '    1) breaks', '  1 passing (3ms)', '  1 failing'])).toEqual({
    tests: { adds: 'passed', breaks: 'failed' },
    declared: 2,
  })
  expect(read('karma', ['Chrome: Executed 2 of 3 (1 FAILED)', 'Chrome thing works FAILED']).declared).toBe(2)
  expect(
    read('jest-json', [
      'noise',
      '{"numTotalTests":2,"testResults":[{"assertionResults":[{"fullName":"a b","status":"passed"},{"fullName":"c","status":"pending"}]}]}',
    ]),
  ).toEqual({ tests: { 'a b': 'passed', c: 'skipped' }, declared: 2 })
})

test('no dialect throws or invents a pass for text without a result', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...testLogDialects),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      (dialect, text) => {
        const { tests } = parseTestLog(text, dialect)
        const words = /pass|ok|success|[✓✔√]|testcase/i.test(text)
        if (!words) expect([...tests.values()]).not.toContain('passed')
      },
    ),
  )
})

describe('findTest', () => {
  test('picks no winner among parameters that were cut off and disagree', () => {
    const seen = new Map([
      ['test_p[log(photon /s)]', 'passed'],
      ['test_p[log(photon cm)]', 'failed'],
      ['test_q[a b]', 'passed'],
      ['test_q[a c]', 'passed'],
    ] as const)
    expect(findTest('test_p[log(photon', seen).status).toBe('ambiguous')
    expect(findTest('test_q[a', seen)).toEqual({ status: 'passed', name: 'test_q[a b]' })
    expect(findTest('test_z', seen).status).toBe('missing')
  })

  test('a log whose own names are cut off does not say which test it was', () => {
    expect(findTest('t[a b]', new Map([['t[a', 'passed']])).status).toBe('ambiguous')
  })
})

describe('resolveTests', () => {
  const log = (tests: Record<string, 'passed' | 'failed' | 'skipped' | 'xfailed'>, declared?: number) => ({
    tests: new Map(Object.entries(tests)),
    ...(declared === undefined ? {} : { declared }),
  })
  const base = { failToPass: ['a'], passToPass: ['b'] }

  test.each([
    ['all passed', log({ a: 'passed', b: 'passed' }), 0, undefined],
    ['one skipped', log({ a: 'skipped', b: 'passed' }), 0, 'test_not_passed'],
    ['one missing', log({ b: 'passed' }), 0, 'test_missing'],
    ['nothing ran', log({}), 0, 'suite_never_ran'],
    ['all skipped', log({ a: 'skipped', b: 'skipped' }), 0, 'suite_never_ran'],
    ['exit code says otherwise', log({ a: 'passed', b: 'passed' }), 1, 'exit_code_contradicts_log'],
    ['another test is known to fail', log({ a: 'passed', b: 'passed', c: 'failed' }), 1, undefined],
    ['ended by a signal', log({ a: 'passed', b: 'passed' }), null, 'did_not_end'],
    ['expected failures still fail', log({ a: 'passed', b: 'xfailed' }), 0, undefined],
    ['a fix is no expected failure', log({ a: 'xfailed', b: 'passed' }), 0, 'test_not_passed'],
  ] as const)('%s', (_name, given, exitCode, reason) => {
    const found = resolveTests({ ...base, log: given, exitCode })
    expect([found.resolved, found.reason]).toEqual([reason === undefined, reason])
  })

  test('where only failures are named, silence is a pass only of a suite that ran', () => {
    const silent = { ...base, mode: 'fail_only' as const, exitCode: 0 }
    expect(resolveTests({ ...silent, log: log({}, 5) }).resolved).toBe(true)
    expect(resolveTests({ ...silent, log: log({}, 0) })).toMatchObject({ reason: 'suite_never_ran' })
    expect(resolveTests({ ...silent, log: log({ a: 'failed' }, 5) })).toMatchObject({ resolved: false })
    expect(resolveTests({ ...silent, exitCode: 1, log: log({}, 5) })).toMatchObject({
      reason: 'exit_code_contradicts_log',
    })
    const unnamed = parseTestLog('Chrome: Executed 5 of 5 (1 FAILED) (0.1 secs)', 'karma')
    expect(resolveTests({ ...silent, exitCode: 1, log: unnamed })).toMatchObject({ resolved: false })
    const { exitCode: _, ...unsaid } = silent
    expect(resolveTests({ ...unsaid, log: unnamed })).toMatchObject({ reason: 'log_damaged' })
    const named = parseTestLog('Chrome thing FAILED\nChrome: Executed 5 of 5 (1 FAILED)', 'karma')
    expect(resolveTests({ ...unsaid, log: named }).resolved).toBe(true)
    const nothing = { failToPass: [], passToPass: [] }
    expect(resolveTests({ ...unsaid, ...nothing, log: named })).toMatchObject({ reason: 'test_not_passed' })
  })

  test('resolves only what every listed test supports', () => {
    const status = fc.constantFrom('passed', 'failed', 'skipped', 'error', 'xfailed', 'xpassed' as const)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), status), (tests) => {
        const seen = { tests: new Map(Object.entries(tests)) } as Parameters<typeof resolveTests>[0]['log']
        const { resolved } = resolveTests({ failToPass: ['a', 'c'], passToPass: ['b'], log: seen })
        const all = tests['a'] === 'passed' && tests['c'] === 'passed'
        expect(resolved).toBe(all && (tests['b'] === 'passed' || tests['b'] === 'xfailed'))
      }),
    )
  })
})

test('patches: a missing last line break, a fence, CRLF', () => {
  const patch = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n'
  for (const given of [patch.trimEnd(), `\`\`\`diff\n${patch}\`\`\``, patch.replaceAll('\n', '\r\n')])
    expect(patchText(given)).toBe(patch)
  expect(patchText('no patch')).toBeNull()
})

test('relative days are counted from the day that is given', () => {
  const days = (text: string) => relativeDaysIn(text, '2026-02-27').map(({ date }) => date)
  expect(days('tomorrow, the day after tomorrow, in two weeks')).toEqual([
    '2026-02-28',
    '2026-03-01',
    '2026-03-13',
  ])
  expect(days('3 days ago and a week from now')).toEqual(['2026-02-24', '2026-03-06'])
  expect(days('next Monday')).toEqual([])
  expect(relativeDaysIn('tomorrow', 'never')).toEqual([])
})
