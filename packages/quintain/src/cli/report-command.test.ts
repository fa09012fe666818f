import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeSampleRun } from '../report/sample-run.ts'
import { typed } from './__fixtures__/typed.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-report-'))
  await writeSampleRun(join(cwd, 'runs/x'), {
    orders: [
      { task: 'a', attempts: [{ reward: 1 }] },
      { task: 'b', attempts: [{ reward: 0 }] },
    ],
  })
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const quintain = (...argv: string[]) => typed(cwd, argv)

test('report --html says the headline, where the page is, how large, and what it holds', async () => {
  const { code, stdout } = await quintain('report', 'x', '--html', 'x.html')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^success 0\.500 \[.*\nx\.html: \d+ kB\. All 2 trajectories are in this page\.\n$/)
  expect(await readFile(join(cwd, 'x.html'), 'utf8')).toContain('npx quintain report runs/x')
})

test('beside JSON, which owns the output, the page is told of to people only; the gate is one all the same', async () => {
  const { code, stdout, stderr } = await quintain(
    'report',
    'x',
    '--html',
    'y.html',
    '--json',
    '--threshold',
    '0.9',
  )
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ schema: 'quintain.report', orders: 2 })
  expect(stderr).toContain('y.html: ')
})

test('a slip is told and changes nothing', async () => {
  expect(await quintain('report', 'x', '--html-max-mb', '3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--html FILE'),
  })
  await writeFile(join(cwd, 'mine.html'), 'mine')
  expect(await quintain('report', 'x', '--html', 'mine.html')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--force'),
  })
  expect(await readFile(join(cwd, 'mine.html'), 'utf8')).toBe('mine')
  expect((await quintain('report', 'x', '--html', 'mine.html', '--force')).code).toBe(0)
  expect(await quintain('report', 'x', '--html', 'no/such/x.html')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('folder that exists'),
  })
})
