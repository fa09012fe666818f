import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tagAnswer, tagFormat } from './tags.ts'
import { stripReasoning } from './thinking.ts'

const answer = (text: string) => tagAnswer(text, { field: 'answer' }).answer

describe('tagAnswer', () => {
  test.each([
    ['<think>as <answer>X</answer></think><answer>D</answer>', 'D'],
    ['<answer>if a < b && c > d then 1</answer>', 'if a < b && c > d then 1'],
    ['<answer>1</answer> no, <answer> 2\n</answer>', '2'],
    ['<answer>1</answer><answer>2', '1'],
    ['<answer>a <answer>b</answer>', 'b'],
    ['<answer><answer>5</answer></answer>', '5'],
    ['<answer type="n">5</answer>', '5'],
    ['<answers>4</answers>', null],
    ['<answer>4</answers>', null],
    ['<think><answer>4</answer>', null],
    ['<answer></answer>', ''],
  ])('%s gives %j', (text, expected) => {
    expect(answer(text)).toBe(expected)
  })

  test('a name in another case is taken in lenient mode alone, and said', () => {
    expect(tagAnswer('<Answer>5</ANSWER>', { field: 'answer' })).toMatchObject({
      answer: '5',
      normalizedCase: true,
    })
    expect(tagAnswer('<Answer>5</Answer>', { field: 'answer', mode: 'strict' }).answer).toBeNull()
    expect(tagAnswer('<Answer>5</Answer><answer>6</answer>', { field: 'answer' })).toMatchObject({
      answer: '6',
      normalizedCase: false,
    })
  })

  test('reasoning can be asked for by its own name', () => {
    expect(tagAnswer('<think>why</think>x', { field: 'think' }).answer).toBe('why')
  })

  test('a text, a message, parts and a conversation give the same answer', () => {
    const body = fc.array(
      fc.constantFrom('<answer>', '</answer>', 'a', '1', '<', '<think>', '</think>', '\n'),
      {
        maxLength: 12,
      },
    )
    fc.assert(
      fc.property(body, (parts) => {
        const text = parts.join('')
        const plain = tagAnswer(text, { field: 'answer' })
        const message = { role: 'assistant' as const, content: text }
        expect(tagAnswer(message, { field: 'answer' })).toEqual(plain)
        const inParts = parts.map((part) => ({ type: 'text' as const, text: part }))
        expect(tagAnswer({ role: 'assistant', content: inParts }, { field: 'answer' })).toEqual(plain)
        const later = { role: 'user' as const, content: '<answer>9</answer>' }
        expect(tagAnswer([later, message, later], { field: 'answer' })).toEqual(plain)
      }),
    )
  })

  test('whatever stands between tags comes out, but for white space at its ends', () => {
    const inner = fc.string({ unit: 'binary' }).filter((text) => !/answer|think|though|reasoning/i.test(text))
    fc.assert(
      fc.property(inner, inner, (before, text) => {
        expect(answer(`${before}<answer>${text}</answer>`)).toBe(text.trim())
      }),
    )
  })

  test('a name is no pattern, and no text takes for ever', () => {
    expect(tagAnswer('<a.c>1</a.c><abc>2</abc>', { field: 'a.c' }).answer).toBe('1')
    for (const part of ['<answer>', '</answer>', '<answer ', '<', '<think>'])
      expect(tagAnswer(part.repeat(20_000), { field: 'answer' }).answer).toBeNull()
  })
})

describe('tagFormat', () => {
  const format = (text: string) => tagFormat(text, { fields: ['think', 'answer'] })
  test.each([
    ['<think>a</think><answer>b</answer>', 1],
    ['<think>row by row <answer>1</answer>', 0.5],
    ['<think>a</answer><answer>b</think>', 0.5],
    ['<answer>b</answer><think>a</think>', 0.5],
    ['<think>a<answer>b</answer></think>', 0.5],
    ['<think>a</think><answer>b</answer><answer>c</answer>', 0.5],
    ['<think>a</think><answer>b</answer></answer>', 0.5],
    ['just prose', 0],
    ['', 0],
  ])('%s scores %d', (text, score) => {
    expect(format(text)).toMatchObject({ score, wellFormed: score === 1 })
  })

  test('reasoning that is no declared field is left out', () => {
    expect(
      tagFormat('<think><answer>draft</answer></think><answer>b</answer>', { fields: ['answer'] }).score,
    ).toBe(1)
  })

  test('the score is 1 exactly when the whole is well formed', () => {
    const part = fc.constantFrom('<think>', '</think>', '<answer>', '</answer>', 'x')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const { score, wellFormed, broken } = format(parts.join(''))
        expect(score === 1).toBe(wellFormed)
        expect(score).toBe(1 - broken.length / 2)
      }),
    )
  })
})

test.each([
  ['weighing </think> 42', '42', 'weighing'],
  ['<think>a</think> b', 'b', 'a'],
  ['<THINKING >a</thinking> b', 'b', 'a'],
  ['[THINK]a[/THINK]b', 'b', 'a'],
  ['◁think▷a◁/think▷b', 'b', 'a'],
  ['<think>a</think>x<think>b</think>y', 'y', 'a\n\nb'],
  ['<think>never', null, 'never'],
  ['<think>a</think>x<think>b', null, 'a\n\nb'],
  ['<think>a</think>', '', 'a'],
  [' plain ', 'plain', null],
  ['a <thinker> b', 'a <thinker> b', null],
  ['< think >a</ think >b', 'b', 'a'],
  ['<scratchpad>a</scratchpad> b', 'b', 'a'],
  ['<seed:think>a</seed:think>b', 'b', 'a'],
  ['<|START_THINKING|>a<|END_THINKING|>b', 'b', 'a'],
  // The harmony format: what counts is the final channel, where it comes last.
  ['<|channel|>analysis<|message|>a', null, 'a'],
  [
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>',
    'b',
    'a',
  ],
  ['<|channel|>final<|message|>b<|end|><|start|>assistant<|channel|>analysis<|message|>a', null, 'a'],
  ['<|channel|>final<|message|>b', 'b', ''],
  ['<|channel|>final<|message|><think>a</think>b<|return|>', 'b', 'a'],
  ['<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":1}<|call|>', null, '{"a":1}'],
  ['The token <|channel|> opens a channel.', 'The token <|channel|> opens a channel.', null],
])('stripReasoning: %j', (text, said, reasoning) => {
  expect(stripReasoning(text)).toEqual({ answer: said, reasoning })
})
