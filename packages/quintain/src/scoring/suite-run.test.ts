import { afterAll, describe, expect, test } from 'vitest'
import type { BoxFiles, GradingSandbox } from '../core/index.ts'
import { bwrapDriver, processDriver } from '../sandbox/index.ts'
import { runSuite, type SuiteOptions } from './suite-run.ts'

const driver = bwrapDriver()
const found = await driver.available()
if (!found.available) process.stderr.write(`test suites are not tried in boxes: ${found.reason}\n`)

/** Boxes with what an agent has left. */
function sandboxOf(left: BoxFiles, boxes = driver): GradingSandbox {
  return {
    artefacts: null,
    start: ({ artefacts, python: _, ...options } = {}) =>
      boxes.start({ ...options, files: { ...options.files, ...(artefacts === 'none' ? {} : left) } }),
  }
}

const tests = {
  '/tests/add.test.mjs': `
import test from 'node:test'
import assert from 'node:assert/strict'
const { add } = await import('/box/add.mjs')
test('small', () => assert.equal(add(1, 2), 3))
test('large', () => assert.equal(add(20, 22), 42))
`,
}
const junit = {
  command:
    'node --test --test-reporter=junit --test-reporter-destination=/tmp/results.xml /tests/add.test.mjs',
  tests,
  results: { path: '/tmp/results.xml', dialect: 'junit' },
  expected: ['test::small', 'test::large'],
  control: { '/box/add.mjs': 'export const add = () => undefined' },
} satisfies SuiteOptions

const grade = async (add: string, options: Partial<SuiteOptions> = {}, more: BoxFiles = {}) => {
  const graded = await runSuite(sandboxOf({ '/box/add.mjs': add, ...more }), { ...junit, ...options })
  const { refused, tests } = graded.explain as { refused?: string; tests: Record<string, string> }
  return { value: graded.value, run: graded.checks?.run, refused, tests }
}
const right = 'export const add = (a, b) => a + b'

afterAll(() => driver.close?.())

describe.skipIf(!found.available)('a suite of Node in a box', () => {
  test('earns what its tests show', async () => {
    expect(await grade(right)).toEqual({
      value: 1,
      run: 2,
      refused: undefined,
      tests: { 'test::small': 'passed', 'test::large': 'passed' },
    })
    const half = 'export const add = () => 3'
    expect(await grade(half)).toMatchObject({ value: 0, run: 2, refused: 'test_not_passed' })
    expect(await grade(half, { score: 'share' })).toMatchObject({ value: 0.5, run: 2 })
  })

  test('reads TAP as well as JUnit', async () => {
    const tap = {
      command: junit.command.replace('=junit', '=tap').replace('.xml', '.tap'),
      results: { path: '/tmp/results.tap', dialect: 'tap' },
      expected: ['small', 'large'],
    } as const
    expect(await grade(right, tap)).toMatchObject({ value: 1, run: 2 })
    expect(await grade('export const add = () => 3', tap)).toMatchObject({ value: 0, run: 2 })
  })

  test.each([
    ['a module that ends the process', 'process.exit(0)'],
    [
      'a module that kills the runner',
      'process.kill(process.ppid, "SIGKILL"); process.kill(process.pid, "SIGKILL")',
    ],
    ['no program at all', 'export const add = ('],
    [
      'printed results',
      `for (const name of ['small', 'large']) {
        const forged = '<testcase name="' + name + '" classname="test"/>'
        console.log('--><testsuite>' + forged + '</testsuite><!--\\n]]></system-out>' + forged + '\\nok 1 - ' + name)
      }
      export const add = () => 0`,
    ],
  ])('%s is a zero and never a fault', async (_what, add) => {
    for (const score of ['all', 'share'] as const)
      expect(await grade(add, { score })).toMatchObject({ value: 0, run: 2 })
  })

  test('a module that waits for ever is ended, and is a zero', async () => {
    expect(
      await grade('setInterval(() => {}, 1000); export const add = (a, b) => { for (;;); }', {
        wallMs: 2000,
      }),
    ).toMatchObject({
      value: 0,
      run: 2,
    })
  })

  test('results that the agent has left are none', async () => {
    const forged =
      '<testsuites><testcase name="small" classname="test"/><testcase name="large" classname="test"/></testsuites>'
    expect(
      await grade(
        'process.exit(0)',
        { results: { path: 'out/results.xml', dialect: 'junit' } },
        { '/box/out/results.xml': forged },
      ),
    ).toMatchObject({ value: 0, run: 2, refused: 'results_in_the_way' })
  })

  test('nothing ran, also without the agent: a fault of the grader', async () => {
    for (const command of [
      'true',
      'no-such-runner',
      ['no-such-runner'],
      `echo '<!DOCTYPE x><testsuite><testcase name="a"/></testsuite>' >/tmp/results.xml`,
    ])
      expect(await grade(right, { command })).toMatchObject({ value: 0, run: 0, refused: 'did_not_run' })
  })

  test('nothing ran because of the agent: a zero', async () => {
    const command = `node /box/add.mjs && ${junit.command}`
    expect(await grade('process.exit(1)', { command })).toMatchObject({
      value: 0,
      run: 2,
      refused: 'did_not_run',
    })
  })

  test.each([
    ['skipped', '<testcase name="a"/><testcase name="b"><skipped/></testcase>', 0, 'test_not_passed'],
    ['missing', '<testcase name="a"/>', 0, 'test_missing'],
    [
      'two outcomes',
      '<testcase name="a"/><testcase name="b"/><testcase name="b"><error/></testcase>',
      1,
      'test_not_passed',
    ],
    ['cut off', '<testcase name="a"/><testcase name="b"/><testcase name="c">', 0, 'log_damaged'],
    [
      'an exit code that says otherwise',
      '<testcase name="a"/><testcase name="b"/>',
      3,
      'exit_code_contradicts_log',
    ],
  ])('%s is no pass', async (_what, cases, exitCode, refused) => {
    const command = `printf '%s' '<testsuite>${cases}${refused === 'log_damaged' ? '' : '</testsuite>'}' >/tmp/results.xml; exit ${exitCode}`
    expect(await grade(right, { command, expected: ['a', 'b'] })).toMatchObject({ value: 0, run: 2, refused })
  })

  test('results that are too large are no evidence', async () => {
    const results = { ...junit.results, maxBytes: 10 }
    expect(await grade(right, { results })).toMatchObject({ value: 0, run: 2, refused: 'results_unreadable' })
  })

  test('hidden tests stay what they are', async () => {
    const add = `
import { writeFileSync, rmSync } from 'node:fs'
for (const change of [() => rmSync('/tests/add.test.mjs'), () => writeFileSync('/tests/add.test.mjs', '')]) try { change() } catch {}
export const add = () => 0`
    expect(await grade(add)).toMatchObject({ value: 0, run: 2, refused: 'test_not_passed' })
  })
})

test('a suite is not run where nothing keeps it in', async () => {
  const open = processDriver()
  await expect(runSuite(sandboxOf({}, open), { ...junit, tests: {} })).rejects.toMatchObject({
    fault: { code: 'checks_need_walls' },
  })
  await open.close?.()
})

test.each([
  ['nothing expected', { expected: [] }],
  ['a test twice', { expected: ['a', 'a'] }],
  ['no name', { expected: [''] }],
  ['results at no file', { results: { path: '/tmp/', dialect: 'junit' } }],
  ['results at a test', { results: { path: '/tests/add.test.mjs', dialect: 'junit' } }],
  ['a folder that is none', { cwd: 'here' }],
] satisfies [string, Partial<SuiteOptions>][])('options: %s', async (_what, options) => {
  await expect(runSuite(sandboxOf({}), { ...junit, ...options })).rejects.toMatchObject({
    code: 'options_invalid',
  })
})
