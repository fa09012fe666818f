import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { doorHarness, type ManifestRecord } from '../core/index.ts'
import { writeRun } from '../rows/__fixtures__/run.ts'
import { says, Talk, user } from '../rows/__fixtures__/talk.ts'
import { typed } from './__fixtures__/typed.ts'

const go = user('go')
const solved = (answer: string) => {
  const talk = new Talk()
  talk.ask([go], answer)
  return talk
}
let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-rows-'))
  const edited = new Talk()
  const a = edited.ask([go], 'a')
  edited.ask([go, a, user('on')], 'b')
  edited.ask([go, says('A\u001b[2J'), user('on')], 'c')
  const bare = new Talk()
  bare.ask([go], 'a', { withoutIds: true })
  await writeRun(join(cwd, 'runs/x'), [
    { talk: edited },
    { talk: edited, fault: 'provider' },
    { talk: bare, reward: 0 },
  ])
  await writeRun(join(cwd, 'runs/bare'), [{ talk: bare }])
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const quintain = (...argv: string[]) => typed(cwd, argv)
const linesOf = async (file: string) =>
  (await readFile(join(cwd, file), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('says how exactly the calls were recorded, and where rows broke', async () => {
  const { code, stdout } = await quintain('rows', 'x')
  expect(code).toBe(0)
  expect(stdout).toBe(`runs/x  sample, seat agent, script:sample
attempts  1 with rows, 1 without
left out  faulted 1
calls     kept 2, branch 2
rows      sampled 1, prefix-merged 1
tokens    6 trained (18.8 %), 21 prompt, 5 environment
breaks    history_edited 1
refused   no_token_ids 1
  history_edited: task-0#0 call 2 keeps 5 of 14 tokens of call 1
  no_token_ids: task-2#0 call 0
`)
})

test('the same as JSON', async () => {
  const { code, stdout } = await quintain('rows', 'x', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 'quintain.rows-report',
    run: { dir: 'runs/x' },
    rows: { sampled: 1, 'prefix-merged': 1 },
    breaks: { history_edited: { count: 1, examples: [{ attempt: 'attempt-0' }] } },
  })
})

test('writes rows, overwrites rows, and nothing else', async () => {
  const { code, stderr } = await quintain('rows', 'x', '--out', 'rows.jsonl')
  expect([code, stderr]).toEqual([0, 'rows.jsonl: a row on each line.\n'])
  const rows = await linesOf('rows.jsonl')
  expect(rows).toMatchObject([
    { schema: 'quintain.row', v: 1, attempt: 'attempt-0', row: 0, exactness: 'prefix-merged', reward: 1 },
    { row: 1, exactness: 'sampled' },
  ])
  expect((await quintain('rows', 'x', '--out', 'rows.jsonl', '--max-length', '6')).code).toBe(0)
  expect((await linesOf('rows.jsonl')).map(({ ids }) => ids.length)).toEqual([6])
  await writeFile(join(cwd, 'mine.txt'), 'mine')
  expect(await quintain('rows', 'x', '--out', 'mine.txt')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--force'),
  })
  expect(await readFile(join(cwd, 'mine.txt'), 'utf8')).toBe('mine')
  expect((await quintain('rows', 'x', '--out', 'mine.txt', '--force')).code).toBe(0)
  expect(await quintain('rows', 'x', '--out', 'no/such/rows.jsonl')).toMatchObject({ code: 2 })
})

test('rows of text, of attempts that were good enough', async () => {
  expect((await quintain('rows', 'x', '--text-only', '--out', 'chat.jsonl')).code).toBe(0)
  expect((await linesOf('chat.jsonl')).map(({ attempt }) => attempt)).toEqual([
    'attempt-0',
    'attempt-0',
    'attempt-2',
  ])
  expect(
    (await quintain('rows', 'x', '--text-only', '--min-reward', '100%', '--out', 'chat.jsonl')).code,
  ).toBe(0)
  expect((await linesOf('chat.jsonl')).map(({ attempt }) => attempt)).toEqual(['attempt-0', 'attempt-0'])
})

test('a file is not left half, nor an old one lost, where there are no rows', async () => {
  await writeFile(join(cwd, 'old.jsonl'), '{"schema":"quintain.row","v":1}\n')
  const { code, stderr } = await quintain('rows', 'bare', '--out', 'old.jsonl')
  expect([code, stderr]).toEqual([2, expect.stringContaining('error no_sampled_tokens')])
  expect(await linesOf('old.jsonl')).toHaveLength(1)
  expect((await readdir(cwd)).filter((name) => name.includes('old.jsonl'))).toEqual(['old.jsonl'])
  expect((await quintain('rows', 'bare')).stdout).toMatch(/rows {6}none/)
})

test('slips are told', async () => {
  expect(await quintain('rows', 'x', '--force')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--out'),
  })
  expect(await quintain('rows', 'x', '--text-only', '--max-length', '9')).toMatchObject({ code: 2 })
  expect(await quintain('rows', 'x', '--max-length', '0')).toMatchObject({ code: 2 })
  expect(await quintain('rows', 'y')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run_not_found'),
  })
})

test('rows of the oracle are said to be solutions', async () => {
  const dir = join(cwd, 'runs/oracle')
  const talk = new Talk()
  talk.ask([go], 'a')
  await writeRun(dir, [{ talk }])
  for (const name of ['run.json', 'orders.jsonl']) {
    const text = await readFile(join(dir, name), 'utf8')
    await writeFile(join(dir, name), text.replaceAll('script:sample', 'script:oracle'))
  }
  expect((await quintain('rows', 'oracle')).stderr).toContain('not for publishing')
  expect((await quintain('rows', 'x')).stderr).not.toContain('not for publishing')
})

test('why a served run has no rows is said, whatever rows are asked for', async () => {
  const dir = join(cwd, 'runs/served')
  await writeRun(dir, [{ talk: new Talk() }])
  const manifest = JSON.parse(await readFile(join(dir, 'run.json'), 'utf8')) as ManifestRecord
  manifest.seats['agent']!.harness = doorHarness
  await writeFile(join(dir, 'run.json'), `${JSON.stringify(manifest)}\n`)
  const why = expect.stringContaining('This run was served')
  expect(await quintain('rows', 'served')).toMatchObject({ code: 0, stderr: why })
  for (const form of ['tokens', 'sft', 'art', 'tinker']) {
    const asked = await quintain('rows', 'served', '--as', form, '--out', 'none.jsonl')
    expect(asked).toMatchObject({ code: 2, stderr: why })
    expect(asked.stderr).toContain('no_sampled_tokens')
  }
  expect((await quintain('rows', 'x')).stderr).not.toContain('served')
})

test('groups of ART say how many of their attempts ART would not train on', async () => {
  const bare = new Talk()
  bare.ask([go], '1', { withoutIds: true })
  await writeRun(join(cwd, 'runs/half'), [{ talk: bare }, { talk: solved('2') }])
  expect((await quintain('rows', 'half', '--as', 'art')).stdout).toMatch(
    /^no tokens 1 of 2 attempts have choices without sampled tokens/m,
  )
  await writeRun(join(cwd, 'runs/full'), [{ talk: solved('2') }])
  expect((await quintain('rows', 'full', '--as', 'art')).stdout).not.toContain('no tokens')
})

test('rows for trainers, of several runs, as lines or as Parquet', async () => {
  await writeRun(join(cwd, 'runs/y'), [{ talk: solved('2'), reward: 1 }], 'run-2')
  await writeRun(join(cwd, 'runs/z'), [{ talk: solved('3'), reward: 0 }], 'run-3')
  const { code, stdout, stderr } = await quintain(
    'rows',
    'y',
    'z',
    '--as',
    'preference',
    '--out',
    'pairs.jsonl',
  )
  expect([code, stderr]).toEqual([0, 'pairs.jsonl: a row on each line.\n'])
  expect(stdout).toBe(`runs/y  sample, seat agent, script:sample
runs/z  sample, seat agent, script:sample
rows      1 for preference
filter    all
tasks     1 with rows, 0 without
attempts  2 used
pairs     1 made
`)
  expect(await linesOf('pairs.jsonl')).toMatchObject([
    {
      lineage: { schema: 'quintain.preference-row', chosen: { run: 'run-2' } },
      rejected: [{ content: '3' }],
    },
  ])
  // A file of ours is overwritten, of the same kind; another kind is not.
  expect((await quintain('rows', 'y', 'z', '--as', 'preference', '--out', 'pairs.jsonl')).code).toBe(0)
  expect((await quintain('rows', 'y', '--as', 'sft', '--out', 'pairs.jsonl')).code).toBe(2)

  const parquet = ['rows', 'y', '--as', 'sft', '--out', 'rows.parquet']
  expect(await quintain(...parquet)).toMatchObject({ code: 0, stderr: 'rows.parquet: rows as Parquet.\n' })
  const bytes = await readFile(join(cwd, 'rows.parquet'))
  expect(bytes.toString('latin1', bytes.length - 4)).toBe('PAR1')
  expect((await quintain(...parquet)).code).toBe(0)
  await writeFile(join(cwd, 'rows.parquet'), 'PAR1 of somebody else PAR1')
  expect(await quintain(...parquet)).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') })
  expect((await quintain(...parquet, '--force')).code).toBe(0)
})

test('options of one kind of rows are refused for another', async () => {
  const slips = [
    ['--best-of-n', '2'],
    ['--as', 'sft', '--text-only'],
    ['--as', 'sft', '--threshold', '1', '--min-reward', '1'],
    ['--as', 'sft', '--filter', 'reward'],
    ['--as', 'art', '--filter', 'success'],
    ['--as', 'sft', '--format', 'parquet'],
    ['--as', 'nothing'],
  ]
  for (const slip of slips) expect((await quintain('rows', 'x', ...slip)).code).toBe(2)
})
