import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packageRoot } from './new-package.ts'
import { runCli } from './run-cli.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-import-'))
  // What a package that is made here imports lies where an installation would put it.
  await symlink(join(packageRoot, '..', '..', 'node_modules'), join(cwd, 'node_modules'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

async function cli(...argv: string[]) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(argv, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: process.env,
    cwd,
  })
  return { code, out: out.join(''), err: err.join('') }
}

const gold = 'Trondheim'
const answer = {
  type: 'string_check',
  name: 'answer',
  input: '{{sample.output_json.city}}',
  reference: '{{item.city}}',
  operation: 'eq',
}
const tools = [
  { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } },
]
const row = {
  messages: [{ role: 'user', content: 'Where is the cathedral?' }],
  city: gold,
  note: 'hidden note',
  tools,
}
const format = {
  type: 'json_schema',
  json_schema: {
    name: 'city',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}
const job = {
  id: 'ftjob-1',
  method: { type: 'reinforcement', reinforcement: { grader: answer, response_format: format } },
}

const given = (name: string, value: unknown) =>
  writeFile(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value))

test('a job and its rows become a package that runs in place: its oracle solves it, silence does not, and nobody sees the rows', async () => {
  await given('job.json', job)
  await given('train.jsonl', row)
  const made = await cli(
    'import',
    'openai-rft',
    '--train',
    'train.jsonl',
    '--job',
    'job.json',
    '--out',
    'cities',
  )
  expect(made.err).toBe('')
  expect(made.code).toBe(0)
  expect(made.out).toContain('1 task (train 1)')

  const listed = await cli('eval', './cities', '--policy', 'script:noop', '--dry-run')
  expect(listed.out).toContain('1')
  const runs = await Promise.all(
    ['oracle', 'noop'].map((policy) =>
      cli('eval', './cities', '--policy', `script:${policy}`, '--isolation', 'inline', '--out', policy),
    ),
  )
  expect(runs.map(({ code }) => code)).toEqual([0, 0])
  expect(runs[0]!.out).toMatch(/1\.000/)
  expect(runs[1]!.out).toMatch(/0\.000/)
  const shown = [
    listed.out,
    listed.err,
    runs[1]!.out,
    runs[1]!.err,
    ...(await publicRecords(join(cwd, 'noop'))),
  ].join('\n')
  expect(shown).toContain('Where is the cathedral?')
  expect(shown).not.toContain(gold)
  expect(shown).not.toContain('hidden note')
})

async function publicRecords(run: string): Promise<string[]> {
  const files = (await readdir(run, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const open = files.filter(({ parentPath }) => !`${parentPath}/`.includes('/private/'))
  return Promise.all(open.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
}

test('what is wrong is told a line each, and no folder is left', async () => {
  await given('grader.json', answer)
  await given('train.jsonl', '{"messages":[]}\n{"mess')
  const { code, err } = await cli('import', 'openai-rft', '--grader', 'grader.json', '--train', 'train.jsonl')
  expect(code).toBe(2)
  expect(err).toMatch(/error: train\.jsonl:1: .*\n.*error: train\.jsonl:2: /)
  expect((await readdir(cwd)).toSorted()).toEqual(['grader.json', 'node_modules', 'train.jsonl'])
})

test('a folder that is not empty is left as it is', async () => {
  await given('job.json', job)
  await given('train.jsonl', row)
  const { code, err } = await cli(
    'import',
    'openai-rft',
    '--train',
    'train.jsonl',
    '--job',
    'job.json',
    '--out',
    '.',
    '--name',
    'x',
  )
  expect(code).toBe(2)
  expect(err).toContain('is not empty')
})

test('recorded conversations are still imported by their file', async () => {
  const { err } = await cli('import', 'absent.jsonl')
  expect(err).toContain('absent.jsonl')
})
