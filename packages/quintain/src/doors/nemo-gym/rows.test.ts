import { expect, test } from 'vitest'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import type { JsonObject } from './json.ts'
import { nemoRows } from './rows.ts'
import { readSeed } from './seed-request.ts'

async function rowsOf(core: SessionCore, options?: Parameters<typeof nemoRows>[2]): Promise<JsonObject[]> {
  const rows: JsonObject[] = []
  for await (const row of nemoRows(core, 'train', options)) rows.push(row)
  return rows
}

test('a row has what the agent begins with, and the name of its task', async () => {
  const core = fakeCore({ kind: 'tools' })
  const rows = await rowsOf(core, { agentName: 'fake_agent' })
  expect(rows).toHaveLength(3)
  expect(rows[1]).toEqual({
    responses_create_params: {
      input: [
        { role: 'system', content: 'You are tested.' },
        { role: 'user', content: 'Question train-1?' },
      ],
      tools: [
        {
          type: 'function',
          name: 'add',
          description: 'Adds to the counter.',
          strict: false,
          parameters: expect.objectContaining({ required: ['by'] }),
        },
        expect.objectContaining({ name: 'read' }),
      ],
    },
    task_id: 'train-1',
    verifier_metadata: {
      quintain: {
        environment: '@quintain/fake',
        version: '1.0.0',
        split: 'train',
        task: 'train-1',
        index: 1,
      },
    },
    agent_ref: { type: 'responses_api_agents', name: 'fake_agent' },
  })
  expect(rows.map((row) => readSeed(row, core.environment))).toEqual(
    [0, 1, 2].map((i) => ({ kind: 'row', task: { id: `train-${i}` } })),
  )
  expect(core.stats().created).toBe(0)
})

test('where the environment answers, an agent is given a tool to speak by and told so, but for one of steps', async () => {
  const core = fakeCore({ kind: 'game' })
  const [simple] = await rowsOf(core)
  expect(simple).toMatchObject({
    responses_create_params: {
      input: [{ role: 'system', content: expect.stringMatching(/^You are tested\.\n\n.*`say`/s) }, {}],
      tools: [{ name: 'say' }],
    },
  })
  const [steps] = await rowsOf(core, { agent: 'gymnasium' })
  expect(steps!['responses_create_params']).toEqual({
    input: [
      { role: 'system', content: 'You are tested.' },
      { role: 'user', content: 'Question train-0?' },
    ],
  })
})

test('messages of every kind become items', async () => {
  const core = fakeCore()
  core.preview = async () => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'image', mediaType: 'image/png', sha256: 'f' },
        ],
      },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c', name: 'add', arguments: '{"by":1}' }],
      },
      { role: 'tool', toolCallId: 'c', content: 'now 1' },
      { role: 'assistant', content: 'Done.' },
    ],
    tools: [],
    answerTool: undefined,
    replies: false,
  })
  const [row] = await rowsOf(core)
  expect(row!['responses_create_params']).toEqual({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          { type: 'input_text', text: '[an image that is not at hand]' },
        ],
      },
      { type: 'function_call', call_id: 'c', name: 'add', arguments: '{"by":1}' },
      { type: 'function_call_output', call_id: 'c', output: 'now 1' },
      { role: 'assistant', content: 'Done.' },
    ],
  })
})
