import fc from 'fast-check'
import { expect, test } from 'vitest'
import { extractAnswer } from './extract-answer.ts'

const kinds = ['json', 'last_line', 'list'] as const

test.each<[string, (typeof kinds)[number], unknown]>([
  ['Sure:\n```json\n{"a": [1, 2]}\n```\nDone.', 'json', '{"a":[1,2]}'],
  ['<think>{"a": 1}</think>{"a": 2}', 'json', '{"a":2}'],
  ['[1, 2]', 'json', '[1,2]'],
  ['There is none.', 'json', null],
  ['I think\n\n**Paris**\n\n', 'last_line', 'Paris'],
  ['', 'last_line', null],
  ['Steps:\n1. one\n2. two\n\nAnswer:\n- red\n- *green*\n- blue', 'list', ['red', 'green', 'blue']],
  ['The colours are: red, green and blue.', 'list', ['red', 'green', 'blue']],
  ['Just one', 'list', null],
])('%j read as %s', (text, kind, answer) => {
  expect(
    kind === 'list' ? extractAnswer(text, { kind }).answer : extractAnswer(text, { kind }).answer,
  ).toEqual(answer)
})

test('the last complete element of a tag, after the reasoning', () => {
  const text = '<think><answer>draft</answer></think><answer>B</answer> or <answer>C'
  expect(extractAnswer(text, { kind: 'tag', tag: 'answer' })).toEqual({ answer: 'B' })
  expect(extractAnswer('none', { kind: 'tag', tag: 'answer' })).toEqual({
    answer: null,
    reason: 'no_candidate',
  })
})

test('what was cut off is no answer', () => {
  expect(extractAnswer('one\ntwo', { kind: 'last_line', truncated: true })).toEqual({
    answer: null,
    reason: 'truncated',
  })
  expect(extractAnswer('- one\n- tw', { kind: 'list', truncated: true })).toEqual({ answer: ['one'] })
  expect(extractAnswer('{"a": [1', { kind: 'json' })).toEqual({ answer: null, reason: 'truncated' })
})

test('whatever a model writes, there is an answer of the kind or a reason', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.constantFrom(...kinds), (text, kind) => {
      const found = kind === 'list' ? extractAnswer(text, { kind }) : extractAnswer(text, { kind })
      expect(found.answer === null).toBe(found.reason !== undefined)
    }),
  )
})
