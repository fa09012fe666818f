import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../core/index.ts'
import { ReplyHistories } from './reply-histories.ts'

const message = fc.record({
  role: fc.constantFrom('system' as const, 'user' as const),
  content: fc.constantFrom('a', 'b', 'c'),
})

test('every conversation is found again as it was, under each of its names', () => {
  fc.assert(
    fc.property(fc.array(fc.array(message, { maxLength: 8 }), { maxLength: 12 }), (conversations) => {
      const histories = new ReplyHistories()
      const given = conversations.map((messages) => structuredClone(messages))
      for (const [index, messages] of conversations.entries())
        histories.keep([`reply ${index}`, `item ${index}`], messages)
      for (const [index, messages] of given.entries()) {
        expect(histories.find(`reply ${index}`)).toEqual(messages)
        expect(histories.find(`item ${index}`)).toBe(histories.find(`reply ${index}`))
      }
      expect(histories.find('another')).toBeUndefined()
    }),
  )
})

test('conversations that go on share their messages, whoever sent them anew', () => {
  const histories = new ReplyHistories()
  const messages: Message[] = [{ role: 'system', content: 'be kind' }]
  for (let turn = 0; turn < 50; turn++) {
    messages.push({ role: 'user', content: `turn ${turn}` })
    // As a program sends it: parsed from text each time.
    histories.keep([`reply ${turn}`], structuredClone(messages))
  }
  const last = histories.find('reply 49')!
  for (let turn = 0; turn < 49; turn++) {
    const earlier = histories.find(`reply ${turn}`)!
    expect(earlier.at(-1)).toBe(last[turn + 1])
  }
})
