import { expect, test } from 'vitest'
import { sampleOf } from './grader-sample.ts'

test('the answer comes after any reasoning, and is read as JSON where it is some', () => {
  const text = '<think>Maybe {"a": 0}</think>\n{"a": 1}'
  expect(sampleOf({ messages: [{ role: 'assistant', content: text }], answer: text })).toMatchObject({
    output_text: '{"a": 1}',
    output_json: { a: 1 },
    output_tools: [],
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '{"a": 1}' } }],
  })
  expect(sampleOf({ messages: [], answer: '<think>still' })).toEqual({
    output_text: '',
    output_tools: [],
    choices: [],
  })
  expect(sampleOf({ messages: [], answer: ' 4 ' })).toMatchObject({ output_text: ' 4 ', output_json: 4 })
})

test('tool calls have the form of Chat Completions, arguments as they were written', () => {
  const toolCalls = [{ id: 'c1', name: 'look', arguments: '{"x": 1' }]
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"x": 1' } }
  expect(sampleOf({ messages: [{ role: 'assistant', content: '', toolCalls }], answer: '' })).toMatchObject({
    output_tools: [call],
    choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [call] } }],
  })
})
