import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feedback, WordleGame } from './game.ts'
import { profiles } from './profiles.ts'
import { wordsOf } from './words.ts'

const word = fc.constantFrom(...wordsOf(5).legal)
/** Words of few letters, so that most of them repeat some. */
const repetitive = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 5, maxLength: 5 })
const game = (secret: string, profile: keyof typeof profiles = 'default') =>
  new WordleGame(secret, { maxGuesses: 6, profile: profiles[profile] })

describe('feedback', () => {
  test.each([
    ['speed', 'erase', 'YXYYX'],
    ['EERIE', 'there', 'YXYXG'],
    ['mamma', 'magma', 'GGXGG'],
    ['allot', 'level', 'XYYXX'],
    ['llama', 'small', 'YYGYX'],
    ['geese', 'elegy', 'YYGXX'],
    ['abbey', 'kebab', 'YYGYX'],
    ['crane', 'crane', 'GGGGG'],
  ])('%s against %s is %s', (guess, secret, marks) => {
    expect(feedback(guess, secret)).toBe(marks)
  })

  test('a letter is marked as often as both words have it, and green exactly where they agree', () => {
    fc.assert(
      fc.property(fc.oneof(word, repetitive), fc.oneof(word, repetitive), (guess, secret) => {
        const marks = feedback(guess, secret)
        for (const letter of new Set(guess)) {
          const times = (text: string) => [...text].filter((other) => other === letter).length
          const marked = [...guess].filter((other, i) => other === letter && marks[i] !== 'X').length
          expect(marked).toBe(Math.min(times(guess), times(secret)))
        }
        for (let i = 0; i < 5; i++) expect(marks[i] === 'G').toBe(guess[i] === secret[i])
      }),
    )
  })

  test('of a repeated letter, the places on the left are marked before those on the right', () => {
    fc.assert(
      fc.property(repetitive, repetitive, (guess, secret) => {
        const marks = feedback(guess, secret)
        for (const letter of 'abc') {
          const own = [...guess].flatMap((other, i) =>
            other === letter && marks[i] !== 'G' ? marks[i]! : [],
          )
          expect(own.join('')).toMatch(/^Y*X*$/)
        }
      }),
    )
  })

  test('the two words can be exchanged: as many greens, as many yellows', () => {
    fc.assert(
      fc.property(fc.oneof(word, repetitive), fc.oneof(word, repetitive), (a, b) => {
        expect([...feedback(a, b)].sort()).toEqual([...feedback(b, a)].sort())
      }),
    )
  })
})

describe('a game', () => {
  test('shows the word, its marks and the guesses that are left', () => {
    expect(game('crane').reply('I say [slate]').content).toBe(
      'S L A T E\nX X G X G\nYou have 5 guesses left.',
    )
  })

  test('is won with the last guess', () => {
    const played = game('crane')
    const wrong = ['slate', 'brine', 'crate', 'craze', 'grace']
    for (const guess of wrong) expect(played.reply(`[${guess}]`).done).toBeUndefined()
    expect(played.reply('[crane]').done).toBe('won')
    expect(played.finish().end).toBe('won')
  })

  test('is lost with the sixth wrong guess, and does not tell the word', () => {
    const played = game('crane')
    const wrong = ['slate', 'brine', 'crate', 'craze', 'grace', 'trace']
    const turns = wrong.map((guess) => played.reply(`[${guess}]`))
    expect(turns.at(-1)).toMatchObject({ done: 'lost' })
    expect(JSON.stringify(turns).toLowerCase().replaceAll(' ', '')).not.toContain('crane')
  })

  test.each([
    ['crane?', 'no word in square brackets'],
    ['', 'no word in square brackets'],
    ['[cranes]', 'has 5 letters'],
    ['[xqzzk]', 'not in the word list'],
    ['[slate]', 'before'],
  ])('an invalid guess %j uses up a guess of the default profile', (message, why) => {
    const played = game('crane')
    played.reply('[slate]')
    expect(played.reply(message).content).toMatch(new RegExp(`${why}[^]*You have 4 guesses left`))
    expect(played.finish()).toMatchObject({ invalid: 1, end: 'open' })
    expect(played.finish().guesses).toHaveLength(1)
  })

  test('a game of invalid guesses ends, and is lost', () => {
    const played = game('crane')
    for (let i = 0; i < 5; i++) expect(played.reply('hm').done).toBeUndefined()
    expect(played.reply('hm').done).toBe('lost')
  })

  test.each(['textarena', 'verifiers-v0', 'verifiers-v1'] as const)(
    '%s forgives an invalid guess, but no second one in a row',
    (profile) => {
      const { say } = profiles[profile]
      const played = game('crane', profile)
      expect(played.reply(say('zzzzz')).done).toBeUndefined()
      expect(played.reply(say('slate')).content).toContain('You have 5 guesses left')
      expect(played.reply(say('slate')).done).toBeUndefined()
      expect(played.reply(say('crate')).content).toContain('You have 4 guesses left')
      expect(played.reply(say('zzzzz')).done).toBeUndefined()
      expect(played.reply(say('zzzzz')).done).toBe('invalid')
      expect(played.finish()).toMatchObject({ invalid: 4, end: 'invalid' })
    },
  )

  test('no message makes it throw, and none takes for ever', () => {
    const profile = fc.constantFrom(...(Object.keys(profiles) as (keyof typeof profiles)[]))
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('[', ']', ' ', '\n', '<guess>', '</guess>', '<think>', 'crane', 'ÉİŒ', '_9'))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(profile, fc.array(text, { maxLength: 6 }), (name, messages) => {
        const played = game('crane', name)
        for (const message of messages) if (played.reply(message).done !== undefined) break
        expect(played.finish().guesses.length).toBeLessThanOrEqual(6)
      }),
    )
    for (const part of ['[', '[a', '<guess>', '<guess>  ', 'a', '[ ']) {
      for (const name of Object.keys(profiles) as (keyof typeof profiles)[]) {
        // A pattern that backtracks would not be back from a message like this before the end of the day.
        const turn = game('crane', name).reply(`<guess>${part.repeat(100_000)}`)
        expect(turn.content).toContain('Not a valid guess')
      }
    }
  })

  test('parts of a message that are not text are not read', () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: '' }
    expect(game('crane').reply([image, { type: 'text', text: '[crane]' }]).done).toBe('won')
  })
})
