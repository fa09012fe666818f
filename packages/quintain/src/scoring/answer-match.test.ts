import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchExact, matchPattern } from './answer-match.ts'
import { matchNumber } from './numeric-match.ts'

test('matchExact compares the words in their order', () => {
  const exact = (target: string, output: string, ignoreCase = false) =>
    matchExact({ target, output, ignoreCase }).correct
  expect(exact('blue red', 'red blue')).toBe(false)
  expect(exact('blue red', ' blue\n red ')).toBe(true)
  expect(exact('Blue', 'blue')).toBe(false)
  expect(exact('Blue', 'blue', true)).toBe(true)
  expect(exact('é', 'e\u0301')).toBe(true)
  expect(exact('42', '<think>41</think>42')).toBe(true)
  expect(matchExact({ target: 'x', output: '<think>x' })).toEqual({
    correct: false,
    answer: null,
    reason: 'unterminated_reasoning',
  })
  expect(matchExact({ target: 'x', output: 'y' })).toEqual({
    correct: false,
    answer: 'y',
    reason: 'different',
  })
})

test('matchPattern: the last match counts, and no match is no answer', () => {
  const match = (pattern: RegExp, output: string, all = false) =>
    matchPattern({ target: '7', output, pattern, all })
  expect(match(/code=(\d+)/, 'code=6 code=7')).toEqual({ correct: true, answer: '7' })
  expect(match(/code=(\d+)/, 'code=7 code=6')).toEqual({ correct: false, answer: '6', reason: 'different' })
  for (const all of [true, false])
    expect(match(/code=(\d+)/, 'nothing', all)).toEqual({
      correct: false,
      answer: null,
      reason: 'no_candidate',
    })
  expect(match(/(\d)-(\d)/, '6-7').correct).toBe(true)
  expect(match(/(\d)-(\d)/, '6-7', true)).toEqual({ correct: false, answer: '6', reason: 'different' })
  expect(match(/(\d)-(\d)/, '7-7', true).correct).toBe(true)
  expect(match(/\d+/, 'it is 7').correct).toBe(true)
  expect(match(/(a)?b/, 'b')).toMatchObject({ correct: false, answer: null })
  expect(match(/<think>(\d)/, '<think>7</think>8')).toMatchObject({ correct: false, answer: null })
  // A pattern that was used before starts anew.
  const used = /(\d)/g
  used.lastIndex = 5
  expect(match(used, '7').correct).toBe(true)
})

test('a text matches itself, and a longer one does not', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z ]{1,20}$/), (text) => {
      expect(matchExact({ target: text, output: text }).correct).toBe(true)
      expect(matchExact({ target: text, output: `${text}x` }).correct).toBe(false)
    }),
  )
})

test('a pattern that takes years is nobody’s score, and holds nobody up', () => {
  const pattern = /^(\w+\s?)*$/
  const output = `${'word '.repeat(40)}!`
  expect(matchPattern({ target: 'x', output, pattern })).toEqual({
    correct: null,
    answer: null,
    reason: 'deadline',
  })
  expect(matchNumber({ target: '1', output, pattern })).toEqual({
    correct: null,
    answer: null,
    reason: 'deadline',
  })
})
