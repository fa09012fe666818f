import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { QuintainError } from '../../core/index.ts'
import { importEvals } from './import-evals.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'quintain-openai-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const label = {
  type: 'string_check',
  name: 'label',
  input: '{{sample.output_text}}',
  reference: '{{item.label}}',
  operation: 'eq',
}
const schema = { type: 'object', properties: { text: { type: 'string' } } }
const saved = {
  object: 'eval',
  id: 'eval_1',
  data_source_config: { type: 'custom', item_schema: schema },
  testing_criteria: [label],
}
const template = [
  { role: 'developer', content: 'Label it.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Ticket: {{ item.text }}' }] },
]
const run = {
  object: 'eval.run',
  id: 'run_1',
  data_source: {
    type: 'completions',
    input_messages: { type: 'template', template },
    source: { type: 'file_content', content: [{ item: { text: '{{item.label}}', label: 'Hardware' } }] },
  },
}
const item = {
  object: 'eval.run.output_item',
  datasource_item: { text: 'Off', label: 'Hardware' },
  results: [{ name: 'label-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f', score: 1, passed: true }],
  sample: { input: [{ role: 'user', content: 'Off' }], output: [{ role: 'assistant', content: 'Hardware' }] },
}

async function moved(files: Record<string, unknown>) {
  const paths: string[] = []
  for (const [name, value] of Object.entries(files)) {
    paths.push(join(dir, name))
    await writeFile(join(dir, name), typeof value === 'string' ? value : JSON.stringify(value))
  }
  const out = join(dir, 'out')
  const made = await importEvals(paths, out)
  const read = (name: string) => readFile(join(out, name), 'utf8')
  return {
    made,
    read,
    tasks: (await read('tasks.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  }
}

test('a run says how rows are asked; what a row says is never a template', async () => {
  const { tasks, read } = await moved({ 'run.json': run, 'eval.json': saved })
  expect(tasks).toMatchObject([
    {
      split: 'test',
      prompt: [
        { role: 'system', content: 'Label it.' },
        { role: 'user', content: 'Ticket: {{item.label}}' },
      ],
      secret: { item: { label: 'Hardware' } },
    },
  ])
  expect(JSON.parse(await read('item-schema.json'))).toEqual(schema)
})

test('output items are rows of their own, and are kept with what they got', async () => {
  const { tasks, read } = await moved({
    'eval.json': saved,
    'items.json': { object: 'list', data: [item, item] },
  })
  expect(tasks).toMatchObject([{ prompt: [{ role: 'user', content: 'Off' }] }])
  const parity = (await read('parity.jsonl')).trim().split('\n')
  expect(parity).toHaveLength(2)
  expect(JSON.parse(parity[0]!)).toEqual({
    item: item.datasource_item,
    sample: { output_text: 'Hardware' },
    expected: { label: 1 },
  })
})

test('without a run the prompt is guessed, and that is said', async () => {
  const { tasks, made } = await moved({
    'eval.json': saved,
    'data.jsonl': '{"item":{"question":"Off?","label":"Hardware"}}\n',
  })
  expect(tasks).toMatchObject([{ prompt: [{ role: 'user', content: 'Off?' }] }])
  expect(made.findings).toContainEqual(
    expect.objectContaining({ severity: 'guess', code: 'guessed_prompt', place: 'data.jsonl:1' }),
  )
})

test('two criteria of one name stay two rewards', async () => {
  const { made, read } = await moved({
    'eval.json': { ...saved, testing_criteria: [label, label] },
    'run.json': run,
  })
  expect(made.graders.map(({ name }) => name)).toEqual(['label', 'label_2'])
  expect(await read('criteria.json')).toContain('"label_2"')
})

test.each([
  ['no eval', { 'run.json': run }, 'no_eval'],
  ['two evals', { 'a.json': saved, 'b.json': saved, 'run.json': run }, 'two_evals'],
  ['no rows', { 'eval.json': saved }, 'no_rows'],
  ['rows that nobody can ask', { 'eval.json': saved, 'data.jsonl': '{"item":{"label":"x"}}' }, 'no_prompt'],
] as const)('%s: refused, saying what to give', async (_, files, code) => {
  const thrown: unknown = await moved(files).catch((error: unknown) => error)
  if (!QuintainError.isInstance(thrown)) throw thrown
  expect(thrown.facts['findings']).toContainEqual(expect.objectContaining({ severity: 'error', code }))
})
