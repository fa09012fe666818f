import { describe, expect, test } from 'vitest'
import type { Message } from '../../core/index.ts'
import type { Opening } from '../session/session.ts'
import { promptBlocks, promptTurns } from './prompt.ts'

function opening(messages: Message[], more: Partial<Opening> = {}): Opening {
  return { messages, tools: [], answerTool: undefined, replies: false, ...more }
}

const asked: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is 2 + 2?' },
]

describe('the prompt', () => {
  test('texts are one block, the system message first', () => {
    expect(promptBlocks(opening(asked))).toEqual([
      { type: 'text', text: 'Be brief.\n\nWhat is 2 + 2?', detail: null },
    ])
  })

  test('it says by which tool the agent answers, unless the author has said so', () => {
    const text = (messages: Message[], replies = false) =>
      promptBlocks(opening(messages, { answerTool: 'submit_answer', replies }))
        .map((block) => (block.type === 'text' ? block.text : ''))
        .join()
    expect(text(asked)).toContain('call the tool `submit_answer` with it')
    expect(text(asked, true)).toContain('must be said by calling the tool `submit_answer`')
    const own: Message[] = [{ role: 'user', content: 'End with submit_answer.' }]
    expect(text(own)).toBe('End with submit_answer.')
  })

  test('images keep their place', () => {
    const content = [
      { type: 'text' as const, text: 'Before' },
      { type: 'image' as const, mediaType: 'image/png', data: 'AAAA', detail: 'low' },
      { type: 'text' as const, text: 'after' },
    ]
    expect(promptBlocks(opening([{ role: 'user', content }]))).toEqual([
      { type: 'text', text: 'Before', detail: null },
      { type: 'image', data: 'AAAA', mimeType: 'image/png', detail: null },
      { type: 'text', text: 'after', detail: null },
    ])
  })
})

const talked: Message[] = [
  { role: 'user', content: 'Look it up.' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'find', arguments: '{"q":"x"}' }] },
  { role: 'tool', toolCallId: 'c1', name: 'find', content: 'nothing', error: 'not_found' },
  { role: 'assistant', content: 'Nothing.', toolCalls: [{ id: 'c2', name: 'find', arguments: 'no JSON' }] },
]

test('a conversation is told with its speakers where there are no roles', () => {
  expect(promptBlocks(opening(talked))).toEqual([
    {
      type: 'text',
      text: 'User:\n\nLook it up.\n\nAssistant:\n\n[find {"q":"x"}]\n\nTool:\n\nnothing\n\nAssistant:\n\nNothing.\n\n[find no JSON]',
      detail: null,
    },
  ])
})

test('the last turn of the user says how to answer, in the same text', () => {
  const told = promptTurns(opening(asked, { answerTool: 'submit_answer' }))
  expect(told.map(({ role, blocks }) => [role, blocks.length])).toEqual([
    ['system', 1],
    ['user', 1],
  ])
  expect(told[1]!.blocks[0]).toMatchObject({
    text: expect.stringMatching(/^What is 2 \+ 2\?\n\n.*submit_answer/),
  })
  expect(asked[1]!.content).toBe('What is 2 + 2?')
})

test('turns keep roles, calls and results, and blocks stand where clients allow them', () => {
  expect(promptTurns(opening(talked, { answerTool: 'say', replies: true }))).toEqual([
    { role: 'user', blocks: [{ type: 'text', text: 'Look it up.', detail: null }], detail: null },
    {
      role: 'assistant',
      blocks: [{ type: 'tool_call', id: 'c1', name: 'find', input: { q: 'x' }, detail: null }],
      detail: null,
    },
    {
      role: 'user',
      blocks: [
        {
          type: 'tool_result',
          tool_call_id: 'c1',
          blocks: [{ type: 'text', text: 'nothing', detail: null }],
          is_error: true,
          detail: null,
        },
      ],
      detail: null,
    },
    {
      role: 'assistant',
      blocks: [
        { type: 'text', text: 'Nothing.', detail: null },
        { type: 'tool_call', id: 'c2', name: 'find', input: { arguments: 'no JSON' }, detail: null },
      ],
      detail: null,
    },
    {
      role: 'user',
      blocks: [
        {
          type: 'text',
          text: 'Everything you say must be said by calling the tool `say`; other text is not seen.',
          detail: null,
        },
      ],
      detail: null,
    },
  ])
})
