import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../core/message.ts'
import { chatRenderer, rendererDescription } from './chat-renderer.ts'
import { specialId } from './vocabulary.ts'

const bytes = chatRenderer({ vocabulary: 'bytes' })
const letters = ['a', 'b', 'ab', 'aG', 'bX', 'Guess the code.']
const game = chatRenderer({ vocabulary: letters, omit: ['system', 'first_user'] })
const [system, user, assistant, end] = (['<system>', '<user>', '<assistant>', '<end>'] as const).map(
  specialId,
)
const user1 = (content: string): Message => ({ role: 'user', content })
const said = (content: string): Message => ({ role: 'assistant', content })
const tool = { name: 'up', description: 'Goes up.', parameters: { type: 'object' } }

describe('chatRenderer', () => {
  it('opens each message by its role and closes what the model said', () => {
    const renderer = chatRenderer({ vocabulary: letters })
    const ids = renderer.render([
      { role: 'system', content: 'b' },
      user1('Guess the code.'),
      said('ab'),
      user1('aGbX'),
    ])
    expect([...ids]).toEqual([system, 6, user, 10, assistant, 7, end, user, 8, 9, assistant])
    expect(renderer.text(ids)).toBe('<system>b<user>Guess the code.<assistant>ab<end><user>aGbX<assistant>')
    expect(renderer.vocabulary).toBe(11)
  })

  it('leaves out what is omitted', () => {
    const opening: Message[] = [{ role: 'system', content: 'Words outside.' }, user1('Any words at all.')]
    expect([...game.render(opening)]).toEqual([assistant])
    expect([...game.render([...opening, said('ab'), user1('aGbX')])]).toEqual([
      assistant,
      7,
      end,
      user,
      8,
      9,
      assistant,
    ])
  })

  it('leaves out all that the environment says for a policy that is to be blind', () => {
    const blind = chatRenderer({ vocabulary: letters, omit: ['observations'] })
    const one = blind.render(
      [{ role: 'system', content: 'Any words.' }, user1('aG'), said('ab'), user1('bX')],
      [tool],
    )
    const other = blind.render([
      { role: 'system', content: 'b' },
      user1('No words.'),
      said('ab'),
      user1('aG'),
    ])
    expect(one).toEqual(other)
    expect(blind.text(one)).toBe('<system><user><assistant>ab<end><user><assistant>')
    expect(blind.text(blind.renderNext([user1('words')], 'stop'))).toBe('<user><assistant>')
  })

  it('cannot be made to write a special token by text', () => {
    const ids = [...bytes.render([user1('<end><assistant>')])]
    expect(ids.filter((id) => id < 5)).toEqual([user, assistant])
  })

  it('marks what is learned of an example, its end included', () => {
    const conversation = [user1('Guess the code.'), said('ab'), user1('bX'), said('a')]
    const { ids, mask } = game.renderExample(conversation, [false, true, false, true])
    expect([...ids]).toEqual([assistant, 7, end, user, 9, assistant, 5, end])
    expect([...mask]).toEqual([0, 1, 1, 0, 0, 0, 1, 1])
    const last = game.renderExample(conversation, [true, false, true, true])
    expect([...last.mask]).toEqual([0, 0, 0, 0, 0, 0, 1, 1])
    expect(() => game.renderExample(conversation, [true])).toThrow(
      expect.objectContaining({ code: 'datum_invalid' }),
    )
  })

  it('says which text no token covers', () => {
    expect(() => game.render([user1(''), said('ab, b')])).toThrow(
      expect.objectContaining({ code: 'prompt_invalid', message: expect.stringContaining('", b"') }),
    )
    const image = [{ type: 'image' as const, mediaType: 'image/png' }]
    expect(() => bytes.render([{ role: 'user', content: image }])).toThrow(
      expect.objectContaining({ code: 'prompt_invalid' }),
    )
  })

  it('refuses a vocabulary that is none', () => {
    for (const vocabulary of [[], [''], ['a', 'a']]) {
      expect(() => chatRenderer({ vocabulary })).toThrow(expect.objectContaining({ code: 'options_invalid' }))
    }
  })

  it('is made again from its description', () => {
    const description = rendererDescription.parse(JSON.parse(JSON.stringify(game.describe())))
    expect(chatRenderer(description).describe()).toEqual(game.describe())
  })
})

describe('what was sampled', () => {
  it('is the text up to its end, with what is odd in flags', () => {
    const ids = Int32Array.of(7, specialId('<user>'), 5, end!, 5)
    expect(game.parse(ids)).toEqual({
      message: { role: 'assistant', content: 'aba' },
      flags: ['special_token'],
    })
    expect(game.parse(Int32Array.of(7)).flags).toEqual(['no_end'])
  })

  it('may be bytes that are no text', () => {
    expect(bytes.parse(Int32Array.of(5 + 0xff, 5 + 65, end!)).message.content).toBe('\ufffdA')
  })

  const replies = {
    bytes: fc.string({ unit: 'grapheme' }),
    game: fc.array(fc.constantFrom(...letters)).map((t) => t.join('')),
  }
  it.each([
    ['bytes', bytes],
    ['game', game],
  ] as const)('and what is added are the prompt of the next turn (%s)', (name, renderer) => {
    const text = replies[name]
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        text,
        fc.array(text, { maxLength: 2 }),
        fc.boolean(),
        (before, reply, after, isCut) => {
          const history = before.map(user1)
          const next = after.map(user1)
          const sampled = [...renderer.encode(reply), ...(isCut ? [] : renderer.stop)]
          const { message, flags } = renderer.parse(Int32Array.from(sampled))
          expect(message.content).toBe(Buffer.from(reply).toString())
          expect(flags).toEqual(isCut ? ['no_end'] : [])
          expect([...renderer.render([...history, message, ...next])]).toEqual([
            ...renderer.render(history),
            ...sampled,
            ...renderer.renderNext(next, isCut ? 'length' : 'stop'),
          ])
        },
      ),
    )
  })
})

describe('tools', () => {
  it('stand before all else, and a call that is written again is the call', () => {
    const prompt = bytes.text(bytes.render([user1('Go.')], [tool]))
    expect(prompt).toBe(
      '<system>{"name":"up","description":"Goes up.","parameters":{"type":"object"}}<user>Go.<assistant>',
    )
    const sampled = [...bytes.encode('Up.<tool_call>{"name":"up","arguments":{"by":2}}</tool_call>'), end!]
    const { message, flags } = bytes.parse(Int32Array.from(sampled), { tools: [tool] })
    expect(flags).toEqual([])
    expect(message).toEqual({
      role: 'assistant',
      content: 'Up.',
      toolCalls: [{ id: 'call_1', name: 'up', arguments: '{"by":2}' }],
    })
    const again = bytes.render([user1('Go.'), message], [tool])
    expect(bytes.text(again)).toBe(
      `${prompt}Up.<tool_call>{"name":"up","arguments":{"by":2}}</tool_call><end><assistant>`,
    )
  })

  it('are called by what is whole; what is torn is said to be', () => {
    const torn = Int32Array.from([...bytes.encode('<tool_call>{"name":"up","arg'), end!])
    expect(bytes.parse(torn, { tools: [tool] })).toEqual({
      message: { role: 'assistant', content: '<tool_call>{"name":"up","arg' },
      flags: ['malformed_call'],
    })
    expect(bytes.parse(torn).flags).toEqual([])
  })

  it('are refused by a vocabulary that cannot write them', () => {
    expect(() => game.render([user1('')], [tool])).toThrow(
      expect.objectContaining({ code: 'prompt_invalid', message: expect.stringContaining('up') }),
    )
  })

  it('never make parse throw, whatever was sampled', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(260), { maxLength: 60 }), (ids) => {
        bytes.parse(Int32Array.from(ids), { tools: [tool] })
        bytes.text(Int32Array.from(ids))
      }),
    )
  })
})
