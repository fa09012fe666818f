import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CaseProcess } from './case-process.ts'
import { loadOps } from './load-ops.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-areas-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const areas = join(folder, 'areas')
const cases: CaseProcess[] = []
afterAll(() => {
  for (const one of cases) one.stop()
})

beforeAll(() => {
  mkdirSync(areas)
  writeFileSync(
    join(areas, 'good.ts'),
    `export const ops = {
      echo: (input: { value: unknown }) => input.value,
      coded: () => { throw Object.assign(new Error('too late'), { code: 'timeout' }) },
      bug: () => { throw new TypeError('x is not a function') },
      later: () => new Promise(() => { setTimeout(() => { throw new Error('thrown later') }, 1) }),
      loop: () => { for (;;); },
      quit: () => process.exit(0),
      hang: () => new Promise(() => {}),
    }`,
  )
  writeFileSync(join(areas, 'notes.ts'), 'export const nothing = 1')
})

function caseOf(op: string, expected: unknown, rest: object = {}): string {
  return JSON.stringify({ id: op, area: 'x', input: { op, ...rest }, expected })
}

async function start(limitMs: number): Promise<CaseProcess> {
  const process = new CaseProcess({ folder: areas, limitMs })
  cases.push(process)
  expect(await process.start()).toEqual([])
  return process
}

describe('CaseProcess', () => {
  test('passes, fails and skips', async () => {
    const process = await start(20_000)
    expect(await process.run(caseOf('echo', { a: 1 }, { value: { a: 1, b: 2 } }))).toEqual({ status: 'pass' })
    expect(await process.run(caseOf('none', {}))).toEqual({ status: 'skipped' })
    expect(await process.run(caseOf('toString', {}))).toEqual({ status: 'skipped' })
    const failed = await process.run(caseOf('echo', { a: 1 }, { value: { a: 2 } }))
    expect(failed).toMatchObject({ status: 'fail', detail: expect.stringContaining('came out: {"a":2}') })
  })

  test('an error with a code is a result, one without is a crash', async () => {
    const process = await start(20_000)
    expect(await process.run(caseOf('coded', { error: 'timeout', error_contains: 'TOO LATE' }))).toEqual({
      status: 'pass',
    })
    for (const expected of [{}, { error: null }]) {
      expect(await process.run(caseOf('bug', expected))).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('TypeError: x is not a function'),
      })
    }
    expect(await process.run(caseOf('later', {}))).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('thrown later'),
    })
  })

  test('a case that ends the process, blocks it or never ends fails alone', async () => {
    const process = await start(3000)
    expect(await process.run(caseOf('quit', {}))).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('crashed'),
    })
    for (const op of ['loop', 'hang']) {
      expect(await process.run(caseOf(op, {}))).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('exceeded 3 s'),
      })
    }
    expect(await process.run(caseOf('echo', [1], { value: [1] }))).toEqual({ status: 'pass' })
  })
})

describe('loadOps', () => {
  test('names files that do not load and operations that two files map', async () => {
    const bad = join(folder, 'bad')
    cpSync(areas, bad, { recursive: true })
    writeFileSync(join(bad, 'twice.ts'), 'export const ops = { echo: () => 1 }')
    writeFileSync(join(bad, 'broken.ts'), 'import "./missing.ts"')
    writeFileSync(join(bad, 'good.test.ts'), 'throw new Error("a test is no area")')
    const { ops, broken } = await loadOps(bad)
    expect(broken).toEqual([
      { file: 'broken.ts', reason: expect.stringContaining('cannot be loaded') },
      { file: 'twice.ts', reason: 'maps echo, and so does good.ts' },
    ])
    expect(Object.keys(ops)).toContain('hang')
  })
})

describe('npm run cases', () => {
  const program = join(import.meta.dirname, '..', 'main.ts')
  /** The runner with the areas of this test. */
  const runHere = (file: string) => {
    const call = `const { main } = await import(${JSON.stringify(program)})
      process.exitCode = await main([${JSON.stringify(file)}], { folder: ${JSON.stringify(areas)} })`
    return spawnSync(process.execPath, ['--input-type=module', '--eval', call], { encoding: 'utf8' })
  }

  test('one line a case, the counts last, and a failure in the exit code', () => {
    const file = join(folder, 'cases.jsonl')
    const read = (expected: object) => ({
      id: 'R',
      area: 'files',
      input: { op: 'echo', value: { records: 1 } },
      expected,
    })
    writeFileSync(file, `\ufeff${JSON.stringify(read({ records: 1 }))}\r\n`)
    const good = runHere(file)
    expect([good.status, good.stdout]).toEqual([0, 'R pass\n1 passed, 0 failed, 0 skipped\n'])
    const lines = [read({ records: 2 }), { id: 'S', input: { op: 'none' }, expected: {} }, { id: 'no case' }]
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const bad = runHere(file)
    const printed = bad.stdout.trimEnd().split('\n')
    expect(bad.status).toBe(1)
    expect(printed[0]).toMatch(/^R fail .*expected 2, got 1/)
    expect(printed[1]).toBe('S skipped')
    expect(printed[2]).toMatch(/cases\.jsonl:3 fail/)
    expect(printed[3]).toBe('0 passed, 2 failed, 1 skipped')
  })

  test('a file that is not there is a mistake of the caller', () => {
    const none = spawnSync(process.execPath, [program, join(folder, 'none.jsonl')], { encoding: 'utf8' })
    expect(none.status).toBe(2)
    expect(none.stderr).toContain('none.jsonl')
  })
})
