import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createThinkingSplitter, mentionsToolCall, splitThinking, type ThinkTags } from './thinking.ts'

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

test('a text in pieces is told as it is split when it is whole', () => {
  const bits = fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    '<th',
    'ink>',
    '</',
    '<',
    '>',
    ' ',
    '\n',
    'so',
    'a <b> c',
  )
  const texts = fc.array(bits, { maxLength: 8 }).map((parts) => parts.join(''))
  const places = fc.constantFrom<ThinkTags>('never', 'leading', 'anywhere')
  fc.assert(
    fc.property(texts, places, fc.integer({ min: 1, max: 12 }), (text, where, size) => {
      const told = { text: '', reasoning: '' }
      const splitter = createThinkingSplitter(where, (kind, piece) => {
        told[kind] += piece
      })
      for (let at = 0; at < text.length; at += size) splitter.push(text.slice(at, at + size))
      splitter.end()
      const { content, reasoning } = splitThinking(text, where)
      expect(told).toEqual({ text: content, reasoning: reasoning ?? '' })
    }),
    { numRuns: 2000 },
  )
})
