import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { QuintainError } from '../../core/index.ts'
import type { Finding } from './findings.ts'
import { importRft } from './import-rft.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'quintain-openai-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const exact = {
  type: 'string_check',
  name: 'exact',
  input: '{{sample.output_text}}',
  reference: '{{item.answer}}',
  operation: 'eq',
}
const row = (content: string, rest: object) =>
  JSON.stringify({ messages: [{ role: 'user', content }], ...rest })

async function held(name: string, content: unknown): Promise<string> {
  const path = join(dir, name)
  await writeFile(
    path,
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
  )
  return path
}

async function moved(
  grader: unknown,
  train: string | Uint8Array,
  more: { valid?: string; job?: unknown } = {},
) {
  const out = join(dir, 'out')
  const made = await importRft(
    {
      grader: await held('grader.json', grader),
      train: await held('train.jsonl', train),
      ...(more.valid === undefined ? {} : { valid: await held('valid.jsonl', more.valid) }),
      ...(more.job === undefined ? {} : { job: await held('job.json', more.job) }),
    },
    out,
  )
  const read = (name: string) => readFile(join(out, name), 'utf8')
  const lines = (await read('tasks.jsonl')).trim().split('\n')
  return {
    made,
    read,
    tasks: lines.map(
      (line) => JSON.parse(line) as { id: string; prompt: unknown; data: unknown; secret: unknown },
    ),
  }
}

async function refusal(grader: unknown, train: string | Uint8Array): Promise<readonly Finding[]> {
  const thrown: unknown = await moved(grader, train).catch((error: unknown) => error)
  if (!QuintainError.isInstance(thrown)) throw thrown
  expect(thrown.code).toBe('import_invalid')
  expect(await readdir(dir)).not.toContain('out')
  return thrown.facts['findings'] as readonly Finding[]
}

const codes = (findings: readonly Finding[]) => findings.map(({ code, place }) => `${code} ${place}`)

test('messages and tools are public, and every other field is secret', async () => {
  const tools = [
    { type: 'function', function: { name: 'look_up', parameters: { type: 'object' }, strict: true } },
  ]
  const { tasks, made } = await moved(exact, row('Capital?', { answer: 'Oslo', note: 'gold', tools }))
  expect(tasks[0]).toMatchObject({
    prompt: [{ role: 'user', content: 'Capital?' }],
    data: { tools: [{ name: 'look_up', strict: true }] },
    secret: { item: { answer: 'Oslo', note: 'gold' } },
  })
  const { secret: _, ...shown } = tasks[0]!
  expect(JSON.stringify(shown)).not.toMatch(/Oslo|gold/)
  expect(codes(made.findings)).toEqual(['unused_field item.note'])
})

test('ids follow what a row says and not where it stands', async () => {
  const rows = [row('a', { answer: '1' }), row('b', { answer: '2' })]
  const first = await moved(exact, rows.join('\n'))
  await rm(join(dir, 'out'), { recursive: true })
  const turned = await moved(exact, rows.toReversed().join('\n'))
  expect(turned.tasks.map(({ id }) => id)).toEqual(first.tasks.map(({ id }) => id).toReversed())
})

test('rows that are there twice are all kept under ids of their own, and told; worst across splits', async () => {
  const { tasks, made } = await moved(
    exact,
    `${row('Same?', { answer: '1' })}\n${row('Same?', { answer: '1' })}`,
    { valid: row('same', { answer: '1' }) },
  )
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(3)
  expect(codes(made.findings)).toEqual(['duplicate_within train.jsonl:2', 'duplicate_across valid.jsonl:1'])
})

test('the grader is kept byte for byte, and the job without what is not asked for', async () => {
  const grader = `\n${JSON.stringify(exact)}  \n`
  const format = { type: 'json_schema', name: 'flat', schema: { type: 'object' }, strict: true }
  const job = {
    id: 'ftjob-1',
    seed: 3,
    organization_id: 'org-1',
    method: {
      type: 'reinforcement',
      reinforcement: { response_format: format, hyperparameters: { n_epochs: 2 } },
    },
  }
  const { read, made } = await moved(grader, row('a', { answer: '1' }), { job })
  expect(await read('grader.json')).toBe(grader)
  const provenance = await read('PROVENANCE.json')
  expect(JSON.parse(provenance)).toMatchObject({
    job: { id: 'ftjob-1', seed: 3, hyperparameters: { n_epochs: 2 } },
  })
  expect(provenance).not.toContain('org-1')
  expect(JSON.parse(await read('output.json'))).toEqual({
    type: 'schema',
    name: 'flat',
    schema: { type: 'object' },
    strict: true,
  })
  expect(codes(made.findings)).toEqual(['flat_response_format job.json'])
})

test('all that is wrong is told at once, with file and line, and nothing is written', async () => {
  const train = [
    row('a', { answer: '1' }),
    '{"messages":[]}',
    '{"messages":[{"role":"robot","content":"x"}]}',
    '[1]',
    '{"mess',
  ].join('\n')
  const found = await refusal({ ...exact, reference: '{{item.gone}}' }, train)
  expect(codes(found.filter(({ severity }) => severity === 'error')).toSorted()).toEqual([
    'bad_message train.jsonl:3',
    'missing_variable train.jsonl:1',
    'no_messages train.jsonl:2',
    'no_object train.jsonl:4',
    'torn_line train.jsonl:5',
  ])
})

test.each([
  ['an empty file', '', 'empty_file train.jsonl'],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0x7d, 0x0a, 0xff), 'not_utf8 train.jsonl:2'],
] as const)('%s is refused', async (_, train, code) => {
  expect(codes(await refusal(exact, train))).toContain(code)
})

test('a field that some rows lack is a warning with its count', async () => {
  const { made } = await moved(exact, `${row('a', { answer: '1' })}\n${row('b', {})}`)
  expect(made.findings).toMatchObject([
    { code: 'missing_variable', place: 'train.jsonl:2', rows: 1, severity: 'warning' },
  ])
  expect(made.blanks.ungradable).toBe(1)
})

test('an integer that the grader would read as another is refused; one that nobody reads is kept as text', async () => {
  const huge = '{"messages":[{"role":"user","content":"a"}],"answer":"1","id":9007199254740993}'
  const { tasks } = await moved(exact, huge)
  expect(tasks[0]?.secret).toEqual({ item: { answer: '1', id: '9007199254740993' } })
  await rm(join(dir, 'out'), { recursive: true })
  const found = await refusal({ ...exact, reference: '{{item.id}}' }, huge)
  expect(codes(found)).toContain('huge_integer_graded train.jsonl:1')
})

test('risks of graders are told: substrings, judges that can be talked to, models that go, scores out of range, lost faults', async () => {
  const grader = {
    type: 'multi',
    name: 'all',
    calculate_output: '2 * has - judge + py',
    graders: {
      has: { ...exact, name: 'has', operation: 'like' },
      judge: {
        type: 'score_model',
        name: 'judge',
        model: 'gpt-4o-2024-08-06',
        input: [{ role: 'user', content: 'Rate {{sample.output_text}}' }],
        range: [0, 10],
      },
      py: {
        type: 'python',
        name: 'py',
        source:
          'import torch, re\ndef grade(sample, item):\n  try:\n    return item["answer"]\n  except:\n    return 0\n',
      },
    },
  }
  const { made, read } = await moved(grader, row('a', { answer: '1' }))
  expect(codes(made.findings).toSorted()).toEqual([
    'foreign_import grader py',
    'judge_injection grader judge',
    'out_of_range grader all',
    'out_of_range grader judge',
    'retired_judge grader judge',
    'substring grader has',
    'swallows_errors grader py',
  ])
  expect(made.findings.find(({ place }) => place === 'grader all')?.message).toContain('from -10 to 3')
  expect(await read('graders/py.py')).toBe(grader.graders.py.source)
})

test('a formula that always divides by 0 is refused, and one that may is told', async () => {
  const grader = (formula: string) => ({
    ...{ type: 'multi', name: 'm', calculate_output: formula },
    graders: { a: { ...exact, name: 'a' } },
  })
  const rows = row('a', { answer: '1' })
  for (const formula of ['1 / 0 + a', 'max(a, a / (2 - 2))', 'a / (0 * a)'])
    expect(codes(await refusal(grader(formula), rows))).toContain('formula_without_score grader m')
  const { made } = await moved(grader('1 / a'), rows)
  expect(codes(made.findings)).toEqual(['out_of_range grader m'])
})

test.each(['eq', 'like'])('an empty reference, which silence matches, is told of %s', async (operation) => {
  const { made } = await moved({ ...exact, reference: '', operation }, row('a', { answer: '1' }))
  expect(codes(made.findings)).toContain(`empty_reference grader ${exact.name}`)
})

test('an answer that stands in the messages is told to be public', async () => {
  const said = '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"1"}],"answer":"1"}'
  const { made } = await moved(exact, said)
  expect(made.findings.find(({ code }) => code === 'last_role')?.message).toContain('shown to whoever plays')
})
