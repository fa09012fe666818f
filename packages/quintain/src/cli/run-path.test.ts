import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findRun } from './run-path.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-run-path-'))
  for (const run of ['runs/four/6b-verified', 'runs/model-small', 'elsewhere'])
    await mkdir(join(cwd, run), { recursive: true })
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

test('a run is a folder, or the name of one under runs/', () => {
  expect(findRun('elsewhere', cwd)).toBe(join(cwd, 'elsewhere'))
  expect(findRun('four/6b-verified', cwd)).toBe(join(cwd, 'runs/four/6b-verified'))
  expect(findRun('runs/model-small', cwd)).toBe(join(cwd, 'runs/model-small'))
})

test.each([
  ['runs/four/6B-verified', `Did you mean ${join('runs', 'four', '6b-verified')}?`],
  ['four/6B-verified', `Did you mean ${join('runs', 'four', '6b-verified')}?`],
  ['model-smal', `Did you mean ${join('runs', 'model-small')}?`],
  ['quite-another', 'quintain list'],
  ['no/such/folder', 'quintain list'],
])('%s is not there, and what is near is named', (text, hint) => {
  expect(() => findRun(text, cwd)).toThrow(expect.objectContaining({ code: 'run_not_found' }))
  expect(() => findRun(text, cwd)).toThrow(hint)
})
