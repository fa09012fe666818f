import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLabelReply, readScoreReply } from './judge-reply.ts'

describe('the number of a reply', () => {
  it.each([
    ['7', 7],
    [' -0.5\n', -0.5],
    ['**0.8**', 0.8],
    ['1e-2', 0.01],
    ['{"steps": [], "result": 0.75}', 0.75],
    ['{"score": "4"}', 4],
    ['```json\n{"result": 3}\n```', 3],
    ['It is fine.\nScore: 7', 7],
    ['It is fine.\n\n7.', 7],
    ['<think>9 or 8?</think>8', 8],
  ])('%j', (reply, raw) => {
    expect(readScoreReply(reply)).toEqual({ raw })
  })

  it.each([
    '',
    'seven',
    'NaN',
    'Infinity',
    '1e999',
    '7/10',
    '70%',
    'I give it 7 out of 10',
    'Between 3 and 4',
    '{"result": "high"}',
    '{"result": null}',
    '{"verdict": 1}',
    '[1]',
    'Score: 7/10',
    '7\nThough it might be less.',
    '<think>7',
  ])('%j says none', (reply) => {
    expect(readScoreReply(reply)).toBeNull()
  })
})

describe('the label of a reply', () => {
  const labels = ['good', 'bad', 'so so']
  it.each([
    ['Good.', 'good'],
    ['"so so"', 'so so'],
    ['{"steps": [], "result": "BAD"}', 'bad'],
    ['It is not good.\nLabel: **bad**', 'bad'],
    ['It is good.\nbad', 'bad'],
  ])('%j', (reply, label) => {
    expect(readLabelReply(reply, labels)).toBe(label)
  })

  it.each([
    '',
    'It is good',
    'good, or bad',
    'goodness',
    '{"result": 1}',
    '{"other": "good"}',
    'good\nor so',
  ])('%j says none', (reply) => {
    expect(readLabelReply(reply, labels)).toBeNull()
  })

  it('takes labels apart that differ in case alone, and those with signs of their own', () => {
    expect(readLabelReply('A', ['a', 'A'])).toBe('A')
    expect(readLabelReply('a.', ['a', 'A'])).toBe('a')
    expect(readLabelReply('aB', ['ab', 'AB'])).toBeNull()
    expect(readLabelReply('yes!', ['yes', 'yes!'])).toBe('yes!')
  })
})

it('reads whatever a judge says, at once', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (reply) => {
      const score = readScoreReply(reply)
      expect(score === null || Number.isFinite(score.raw)).toBe(true)
      const label = readLabelReply(reply, ['a', 'b'])
      expect([null, 'a', 'b']).toContain(label)
    }),
  )
  expect(readScoreReply('*'.repeat(2_000_000))).toBeNull()
  expect(readScoreReply(`${' '.repeat(2_000_000)}x`)).toBeNull()
  expect(readLabelReply('['.repeat(2_000_000), ['a'])).toBeNull()
})
