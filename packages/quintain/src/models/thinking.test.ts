import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mentionsToolCall, splitThinking, type ThinkTags } from './thinking.ts'

describe('splitThinking', () => {
  test.each<[string, ThinkTags, string, string | undefined]>([
    ['<think>hm</think>42', 'leading', '42', 'hm'],
    ['\n<think>\nhm\n</think>\n\n42', 'leading', '42', '\nhm\n'],
    ['<thinking>hm</thinking>42', 'leading', '42', 'hm'],
    ['<think>never ends', 'leading', '', 'never ends'],
    ['<think></think>42', 'leading', '42', ''],
    ['hm </think> 42', 'leading', 'hm </think> 42', undefined],
    ['hm </think> 42', 'anywhere', '42', 'hm '],
    ['<think>hm</think>42', 'never', '<think>hm</think>42', undefined],
    ['say <think> first, </think> then', 'anywhere', 'say <think> first, </think> then', undefined],
    ['just 42', 'anywhere', 'just 42', undefined],
  ])('%j, %s', (text, where, content, reasoning) => {
    expect(splitThinking(text, where)).toMatchObject({ content, reasoning })
  })

  test('loses nothing: the parts put together are the text', () => {
    const text = fc
      .array(fc.constantFrom('<think>', '</think>', '\n', 'a', ' ', '<thinking>'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.constantFrom<ThinkTags>('never', 'leading', 'anywhere'), (whole, where) => {
        const { around, reasoning = '', content } = splitThinking(whole, where)
        expect(around.open + reasoning + around.close + content).toBe(whole)
      }),
    )
  })
})

test('tool calls in the spelling of common templates are seen', () => {
  for (const text of [
    '<tool_call>{}',
    '<function=f>',
    '[TOOL_CALLS][{}]',
    '<|python_tag|>f()',
    '<|tool_calls_begin|>',
  ])
    expect(mentionsToolCall(text), text).toBe(true)
  expect(mentionsToolCall('I call a tool')).toBe(false)
})
