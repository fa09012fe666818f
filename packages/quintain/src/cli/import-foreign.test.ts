import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { typed } from './__fixtures__/typed.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'quintain-import-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const quintain = (...argv: string[]) => typed(cwd, argv)

const row = (example: number, reward: number) =>
  JSON.stringify({
    example_id: example,
    prompt: [{ role: 'user', content: `${example}?` }],
    completion: [{ role: 'assistant', content: `${example}.` }],
    reward,
  })

test('a run of results of verifiers is reported, shown and made rows of like any other', async () => {
  const bad = Array.from({ length: 25 }, () => 'no json\n').join('')
  await writeFile(join(cwd, 'results.jsonl'), `${row(0, 1)}\n${row(1, 0)}\n${bad}`)
  const made = await quintain(
    'import',
    'verifiers',
    'results.jsonl',
    '--out',
    'r',
    '--name',
    'sums',
    '--quiet',
  )
  expect(made.code).toBe(0)
  expect(made.stdout).toContain('sums imported')
  // Quiet or not: figures of a part are said to be so, the first of it by line.
  expect(made.stderr).toContain('Left out 25 conversations that could not be read:\n  line 3: ')
  expect(made.stderr).toContain('and 5 more')
  expect(made.stderr).not.toContain('Note:')
  expect((await quintain('report', 'r')).stdout).toContain('2 scored')
  expect((await quintain('show', 'r', '0')).stdout).toContain('0.')
  expect((await quintain('rows', 'r', '--as', 'sft', '--out', 'sft.jsonl')).code).toBe(0)
  const strict = await quintain('import', 'verifiers', 'results.jsonl', '--out', 's', '--strict')
  expect(strict).toMatchObject({ code: 2, stderr: expect.stringContaining('line 3') })
})

test('a note says what cannot be seen in results of v0', async () => {
  await writeFile(join(cwd, 'results.jsonl'), `${row(0, 1)}\n`)
  const { stderr } = await quintain('import', 'verifiers', 'results.jsonl', '--out', 'noted')
  expect(stderr).toContain('Note: verifiers v0 gives 0.0 where a reward function raises')
})
