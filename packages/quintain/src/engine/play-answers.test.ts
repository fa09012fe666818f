import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readToolRun, readTurn } from './play-answers.ts'

/*
 * Texts are read by hand and all else by the schemas: what is said of a result must not depend on which of the two reads it.
 */

const absentOrText = fc.option(fc.string(), { nil: undefined })
const picture = [{ type: 'image', mediaType: 'image/png', data: 'aGk=' }]

test('a result of text and one of a picture keep the same fields, and no others', () => {
  fc.assert(
    fc.property(absentOrText, absentOrText, absentOrText, fc.string(), (name, error, done, text) => {
      const of = (content: unknown) => ({
        messages: [{ role: 'tool', toolCallId: 'a', name, error, content, reward: 1 }],
        done,
        executed: 1,
        truncated: false,
        secret: 'left behind',
      })
      const byHand = readToolRun(of(text))
      const bySchema = readToolRun(of(picture))
      expect(byHand?.messages[0]?.content).toBe(text)
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as object
      const [message] = byHand!.messages
      expect(plain({ ...byHand, messages: [{ ...message, content: picture }] })).toEqual(plain(bySchema))
    }),
  )
})

test('a turn of text keeps what it says and no reward', () => {
  expect(readTurn({ content: 'x', done: 'won', next: 'user', reward: 1 })).toEqual({
    content: 'x',
    done: 'won',
    next: 'user',
  })
  expect(readTurn({ content: 'x', done: undefined })).toEqual({ content: 'x' })
})

test.each([
  ['no messages', { executed: 1, truncated: false }],
  ['a role that is another', { messages: [{ role: 'user', content: 'x' }], executed: 1, truncated: false }],
  ['no number', { messages: [], executed: Number.NaN, truncated: false }],
  [
    'a content of another kind',
    { messages: [{ role: 'tool', toolCallId: 'a', content: 1 }], executed: 1, truncated: false },
  ],
  ['nothing', null],
])('%s is no run of tools', (_, value) => {
  expect(readToolRun(value)).toBeUndefined()
})
