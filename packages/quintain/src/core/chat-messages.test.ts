import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readChatMessages } from './chat-messages.ts'
import { message as messageSchema } from './message.ts'

function read(...list: unknown[]) {
  const found = readChatMessages(list)
  if (typeof found === 'string') throw new Error(found)
  return found
}

const call = (id: unknown, name: string, given: unknown) => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, arguments: given },
})

test('a conversation with a tool call, in our form', () => {
  const { messages, notes } = read(
    { role: 'developer', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'text', text: 'Where is A-1?' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [call('c1', 'find', '{"id":"A-1"}')],
      reasoning_content: 'hm',
    },
    { role: 'tool', tool_call_id: 'c1', content: 'here' },
    { role: 'assistant', content: 'Here.', audio: { id: 'x' } },
  )
  expect(notes).toEqual([])
  expect(messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Where is A-1?' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'hm',
      toolCalls: [{ id: 'c1', name: 'find', arguments: '{"id":"A-1"}' }],
    },
    { role: 'tool', toolCallId: 'c1', name: 'find', content: 'here' },
    { role: 'assistant', content: 'Here.', extra: { audio: { id: 'x' } } },
  ])
})

test('calls without results and results without calls are kept and told', () => {
  const { messages, notes } = read(
    { role: 'user', content: 'x' },
    { role: 'assistant', tool_calls: [call('c1', 'find', '{}'), call('c2', 'look', '{}')] },
    { role: 'tool', tool_call_id: 'other', content: 'stray' },
    { role: 'assistant', content: '', tool_calls: [call('c3', 'find', '{}')] },
  )
  expect(messages).toHaveLength(4)
  expect(notes).toEqual([
    'message 3: a tool result that answers no call',
    'message 4: 2 calls before it had no result',
    'the end: the call of find had no result',
  ])
})

test('calls and results without ids are paired in order; arguments are kept as they were written', () => {
  const { messages, notes } = read(
    { role: 'user', content: 'x' },
    { role: 'assistant', tool_calls: [call(undefined, 'a', '{broken'), call(7, 'b', { deep: [1] })] },
    { role: 'tool', content: 'of a' },
    { role: 'tool', tool_call_id: 7, content: { ok: true } },
    { role: 'assistant', content: null, function_call: { name: 'old', arguments: '' } },
    { role: 'function', name: 'old', content: 'done' },
  )
  expect(messages[1]).toMatchObject({
    toolCalls: [
      { id: 'call_2_1', name: 'a', arguments: '{broken' },
      { id: '7', name: 'b', arguments: '{"deep":[1]}' },
    ],
  })
  expect(messages[2]).toMatchObject({ toolCallId: 'call_2_1', name: 'a' })
  expect(messages[3]).toMatchObject({ toolCallId: '7', content: '{"ok":true}' })
  expect(messages[5]).toMatchObject({ toolCallId: 'call_5_1', name: 'old', content: 'done' })
  expect(notes).toHaveLength(2)
})

test('pictures and parts of other kinds', () => {
  const { messages, notes } = read({
    role: 'user',
    content: [
      'look',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'input_audio', input_audio: { data: 'x' } },
    ],
  })
  expect(messages[0]?.content).toEqual([
    { type: 'text', text: 'look' },
    { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    { type: 'text', text: '[image: https://example.com/a.png]' },
    { type: 'text', text: '{"type":"input_audio","input_audio":{"data":"x"}}' },
  ])
  expect(notes).toHaveLength(2)
})

test.each([
  [null, 'no list of messages'],
  ['text', 'no list of messages'],
  [['text'], 'message 1 is no object'],
  [[{ role: 'user', content: 'x' }, { content: 'x' }], 'message 2 has the role undefined'],
  [[{ role: 'judge', content: 'x' }], 'message 1 has the role "judge"'],
  [[{ role: 'assistant', tool_calls: {} }], 'message 1: its tool_calls are no list'],
  [[{ role: 'assistant', tool_calls: [{ id: 'x' }] }], 'message 1: tool call 1 names no function'],
])('%j is no conversation', (list, problem) => {
  expect(readChatMessages(list)).toContain(problem)
})

test('whatever is given is messages of our schema, or a text that says why not', () => {
  const part = fc.oneof(
    fc.jsonValue(),
    fc.record({ type: fc.constantFrom('text', 'image_url', 'x'), text: fc.jsonValue() }),
  )
  const raw = fc.record(
    {
      role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'function', 'developer', 'x'),
      content: fc.oneof(fc.jsonValue(), fc.array(part)),
      tool_calls: fc.oneof(
        fc.jsonValue(),
        fc.array(fc.record({ id: fc.jsonValue(), name: fc.string(), arguments: fc.jsonValue() })),
      ),
      tool_call_id: fc.jsonValue(),
    },
    { requiredKeys: ['role'] },
  )
  fc.assert(
    fc.property(fc.array(raw, { maxLength: 5 }), (list) => {
      const found = readChatMessages(list)
      if (typeof found === 'string') return
      expect(found.messages).toHaveLength(list.length)
      for (const message of found.messages) expect(messageSchema.safeParse(message).error).toBeUndefined()
    }),
  )
})
