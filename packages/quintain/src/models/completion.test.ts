import { expect, test } from 'vitest'
import { readCompletion, readResponse, readTokens } from './completion.ts'

test.each([[[2 ** 31]], [[4_294_967_303]], [[-1]], [[1.5]]])(
  'ids that no 32 bits hold are left out and flagged, and never become others: %j',
  (ids) => {
    const message = { content: 'a' }
    expect(readTokens({ message, promptIds: ids, outputIds: ids })).toEqual({
      tokens: {},
      flags: ['token_data_invalid', 'token_data_invalid'],
    })
  },
)

test('so is an id that stands in the text of a token', () => {
  const told = { logprobs: [-1], logprobTokens: ['token_id:4294967303'] }
  expect(readTokens({ message: { content: 'a' }, ...told }).flags).toEqual(['token_data_invalid'])
})

test('ids are kept as they are up to the largest', () => {
  const message = { content: 'a' }
  expect(readTokens({ message, promptIds: [0, 2 ** 31 - 1], outputIds: [7] })).toEqual({
    tokens: { promptIds: Int32Array.of(0, 2 ** 31 - 1), outputIds: Int32Array.of(7) },
    flags: [],
  })
})

test('choices that nobody asked for are told of', () => {
  const choice = (content: string) => ({ message: { role: 'assistant', content }, finish_reason: 'stop' })
  const read = (...contents: string[]) => readResponse(readCompletion({ choices: contents.map(choice) })!)
  expect(read('one', 'two')).toMatchObject({ message: { content: 'one' }, flags: ['several_choices'] })
  expect(read('one').flags).toBeUndefined()
})
