import { expect, test } from 'vitest'
import { noUsage } from '../../core/index.ts'
import type { Transcript } from './page-data.ts'
import { argumentsText, transcriptItems, transcriptText } from './transcript-items.ts'

const transcript: Transcript = {
  row: 0,
  attempt: {
    id: 'a#0.1',
    start: '2026-11-01T12:00:00.000Z',
    outcome: 'turn_limit',
    fault: null,
    verdict: { reward: 0.5, success: false, rewards: { solved: 0.5, rank: 1 }, metrics: { words: 7 } },
    timing: { wallMs: 1000, agentMs: 900, modelMs: 800, waitMs: 0, gradeMs: 5 },
    counts: { turns: 1, toolCalls: 1, modelRetries: 0 },
    usage: { agent: noUsage },
    costUsd: { agent: 0 },
  },
  seats: { agent: { policy: 'm', harness: 'chat@1' } },
  nodes: [
    { parent: -1, seat: 'agent', sampled: false, message: { role: 'user', content: 'Find it' } },
    {
      parent: 0,
      seat: 'agent',
      sampled: true,
      reward: 0.25,
      message: {
        role: 'assistant',
        content: 'Looking',
        reasoning: 'hm',
        toolCalls: [
          { id: '1', name: 'find', arguments: '{"q":"x"}' },
          { id: '2', name: 'find', arguments: '{"q":' },
        ],
      },
    },
    {
      parent: 1,
      seat: 'agent',
      sampled: false,
      message: {
        role: 'tool',
        toolCallId: '1',
        name: 'find',
        content: [
          { type: 'text', text: 'none' },
          { type: 'image', mediaType: 'image/png', sha256: 'ff' },
        ],
        error: 'not_found',
      },
    },
  ],
  calls: [
    {
      seat: 'agent',
      prompt: 0,
      output: 1,
      model: 'm-1',
      finish: 'length',
      atMs: 0,
      latencyMs: 800,
      waitMs: 12,
      flags: ['bad_json'],
    },
    {
      seat: 'agent',
      prompt: 0,
      output: -1,
      model: 'm-1',
      atMs: 900,
      latencyMs: 10,
      waitMs: 0,
      fault: { owner: 'provider', stage: 'model', code: 'http_500', message: 'broke', retryable: true },
    },
  ],
  components: {
    solved: {
      kind: 'reward',
      value: 0.5,
      weight: 1,
      reason: 'half of it',
      checks: { expected: 4, run: 4 },
      steps: [0.25, 0.25],
    },
    words: { kind: 'metric', value: 7, weight: 0 },
  },
  problems: ['trajectories.jsonl is damaged'],
}

test('a trajectory reads from how it ended and was graded to who said what', async () => {
  const items = transcriptItems(transcript, { tries: 2, weights: { rank: 0.5 } })
  await expect(`${JSON.stringify(items, null, 2)}\n`).toMatchFileSnapshot('__golden__/transcript-items.json')
})

test('a call that gave no message, an unreadable part and an attempt without messages are told', () => {
  const texts = (given: Transcript) =>
    transcriptItems(given).map((item) => ('text' in item ? item.text : item.kind))
  expect(texts(transcript)).toContain('model call of agent at 900 ms http_500: broke')
  expect(texts(transcript)).toContain('trajectories.jsonl is damaged')
  expect(texts({ ...transcript, nodes: [], calls: [] })).toContain('No message was exchanged.')
})

test('of an agent outside what was said in the world is read first, then call by call what is new of it', () => {
  const node = (parent: number, content: string, sampled = false): Transcript['nodes'][number] => ({
    parent,
    seat: 'agent',
    sampled,
    message: sampled ? { role: 'assistant', content } : { role: 'user', content },
  })
  const asked = { seat: 'agent', model: 'm', atMs: 0, latencyMs: 5, waitMs: 0 }
  const fault = {
    owner: 'provider',
    stage: 'model',
    code: 'refused',
    message: 'no',
    retryable: false,
  } as const
  const items = transcriptItems({
    ...transcript,
    leaves: { agent: 1 },
    nodes: [
      node(-1, 'go'),
      { ...node(0, 'said'), message: { role: 'assistant', content: 'said' } },
      node(0, 'draft', true),
      node(2, 'better'),
      node(3, 'said', true),
    ],
    calls: [
      { ...asked, prompt: 0, output: 2 },
      { ...asked, prompt: 3, output: 4 },
      { ...asked, prompt: 0, output: -1, fault },
    ],
  })
  const read = items.flatMap((item) => {
    if (item.kind === 'message') return [`${item.index} ${item.blocks[0]?.text}`]
    if (item.kind === 'call') return [`call ${item.number} ${item.place} ${item.failure ?? ''}`.trim()]
    return item.kind === 'heading' ? [item.text] : []
  })
  expect(read).toEqual([
    'Messages',
    '0 go',
    '1 said',
    'What its model was asked: 3 calls',
    'call 0 begins a conversation',
    '2 draft',
    'call 1 goes on from call 0',
    '3 better',
    '4 said',
    'call 2 begins a conversation refused: no',
    'Attempt',
  ])
  expect(items.flatMap((item) => (item.kind === 'problem' ? [item.text] : []))).not.toContain('refused')
})

test('arguments are laid out when they are JSON and said to be none when they are not', () => {
  expect(argumentsText(' ')).toBe('{}')
  expect(argumentsText('{ "a": 1 }')).toBe('{"a":1}')
  expect(argumentsText(JSON.stringify({ text: 'x'.repeat(90) }))).toContain('\n  "text"')
  expect(argumentsText('{"a":')).toBe('{"a":\n(not JSON)')
})

test('a search sees text, reasoning, tool names and arguments', () => {
  const text = transcriptText(transcript)
  for (const wanted of ['Find it', 'Looking', 'hm', 'find', '{"q":"x"}', 'none'])
    expect(text).toContain(wanted)
})
