import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codesOf } from './codes.ts'
import { profiles } from './profiles.ts'
import { TerseGame } from './terse-game.ts'
import { wordsOf } from './words.ts'

const code = fc.constantFrom(...codesOf(4).secrets)
const game = (secret: string) =>
  new TerseGame(secret, { maxGuesses: 5, profile: profiles.default, words: codesOf(4) })

describe('a game of codes', () => {
  test('answers with the letters and their marks, and is won by the code', () => {
    const played = game('abca')
    expect(played.reply('acda')).toEqual({ content: 'aGcYdXaG' })
    expect(played.reply('abca')).toEqual({ content: 'aGbGcGaG', done: 'won' })
  })

  test.each(['', 'abc', 'abcde', 'abcg', 'abXd', 'a b c d', '?'])(
    '%j is no code, and uses up a guess',
    (said) => {
      const played = game('abca')
      for (let i = 0; i < 4; i++) expect(played.reply(said)).toEqual({ content: '?' })
      expect(played.reply(said)).toEqual({ content: '?', done: 'lost' })
      expect(played.finish()).toEqual({ guesses: [], invalid: 5, end: 'lost' })
    },
  )

  test('a guess made again is played again, so repeating oneself loses a game', () => {
    const played = game('abca')
    for (let i = 0; i < 4; i++) expect(played.reply('acda').done).toBeUndefined()
    expect(played.reply('acda').done).toBe('lost')
    expect(played.finish().guesses).toHaveLength(5)
  })

  test('a code that is not guessed is never said', () => {
    fc.assert(
      fc.property(code, fc.array(code, { minLength: 5, maxLength: 5 }), (secret, guesses) => {
        const played = game(secret)
        for (const guess of guesses.filter((one) => one !== secret)) {
          expect(String(played.reply(guess).content)).not.toContain(secret)
        }
      }),
    )
  })

  test('words are answered the same way, and what is no word is none', () => {
    const played = new TerseGame('crane', { maxGuesses: 6, profile: profiles.default, words: wordsOf(5) })
    expect(['slate', 'zzzzz', 'cranes', 'crane'].map((word) => played.reply(word))).toEqual([
      { content: 'sXlXaGtXeG' },
      { content: '?' },
      { content: '?' },
      { content: 'cGrGaGnGeG', done: 'won' },
    ])
  })

  test('a win pays a tenth for each guess that was not needed, a loss nothing whatever it found', () => {
    const rewardOf = (said: readonly string[]) => {
      const played = game('abca')
      for (const guess of said) played.reply(guess)
      const paid = { partial: 0, bonus: 0.1, maxGuesses: 5, secret: 'abca', messages: said }
      return profiles.default.reward({ ...paid, game: played.finish() })
    }
    expect(rewardOf(['abca'])).toBeCloseTo(1.4, 12)
    expect(rewardOf(['abcd', 'abcg', 'abca'])).toBeCloseTo(1.2, 12)
    expect(rewardOf(['abcd', 'abcd', 'abcd', 'abcd', 'abca'])).toBe(1)
    expect(rewardOf(['abcd', 'abcd', 'abcd', 'abcd', 'abcb'])).toBe(0)
    expect(rewardOf(['abcd'])).toBe(0)
  })
})
