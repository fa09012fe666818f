import { expect, test } from 'vitest'
import type { Action } from '../core/environment.ts'
import { dialects } from './dialects/index.ts'
import { createScriptModel } from './scripted.ts'

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const call = { tool: 'f', arguments: {} }
const f = { tool_choice: { type: 'function', function: { name: 'f' } } }
const json = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } }

async function flagsOf(action: Action, more: object): Promise<string[] | undefined> {
  const model = createScriptModel({
    id: 'script:test',
    async *start() {
      yield action
    },
  })
  const request = dialects.chat.readRequest({ ...chat, ...more })
  return (await model.generate(request, { signal: new AbortController().signal })).flags
}

test.each<[string, Action, object]>([
  ['tool_choice', 'words', f],
  ['tool_choice', { tool: 'g', arguments: {} }, f],
  ['tool_choice', 'words', { tool_choice: 'required' }],
  ['tool_choice', call, { tool_choice: 'none' }],
  ['parallel_tool_calls', [call, call], { parallel_tool_calls: false }],
  ['response_format', 'words', json],
  ['response_format', '[]', { response_format: { type: 'json_object' } }],
  ['stop', 'one END two', { stop: ['END'] }],
  ['max_tokens', 'x'.repeat(100), { max_tokens: 5 }],
  ['logprobs', 'words', { logprobs: true }],
])('a script that does not heed %s says so', async (setting, action, more) => {
  expect(await flagsOf(action, more)).toEqual([`script_ignores:${setting}`])
})

test.each<[Action, object]>([
  [call, f],
  [call, { tool_choice: 'required', parallel_tool_calls: false }],
  ['words', { tool_choice: 'none', stop: ['END'], max_tokens: 5 }],
  ['{"a":1}', json],
  [call, json],
])('a script that happens to keep to what is asked says nothing', async (action, more) => {
  expect(await flagsOf(action, more)).toBeUndefined()
})

test('what nobody asked through a program is not looked at', async () => {
  const model = createScriptModel({
    id: 'script:test',
    async *start() {
      yield 'words'
    },
  })
  const sampling = { maxTokens: 1, stop: ['words'] }
  const reply = await model.generate(
    { messages: [{ role: 'user', content: 'hi' }], sampling },
    { signal: new AbortController().signal },
  )
  expect(reply.flags).toBeUndefined()
})
