import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GameState, WordleGame } from './game.ts'
import { profiles } from './profiles.ts'
import { wordsOf } from './words.ts'

type Name = keyof typeof profiles

/** Plays whole messages, and gives the reward and the state after each. */
function play(name: Name, secret: string, messages: readonly string[]) {
  const game = new WordleGame(secret, { maxGuesses: 6, profile: profiles[name] })
  const rewards: number[] = []
  const said: string[] = []
  for (const message of messages) {
    said.push(message)
    const turn = game.reply(message)
    rewards.push(profiles[name].reward({ game: game.finish(), secret, messages: said, partial: 0.2 }))
    if (turn.done !== undefined) break
  }
  return { rewards, reward: rewards.at(-1) ?? 0, state: game.finish() as GameState }
}
const brackets = (...words: string[]) => words.map((word) => `[${word}]`)
const v0 = (...words: string[]) => words.map((word) => `<think>hm</think>\n<guess>[${word}]</guess>`)

describe.each(['textarena', 'verifiers-v1'] as const)('%s', (name) => {
  test('a win pays 1 whenever it comes', () => {
    expect(play(name, 'crane', brackets('crane')).reward).toBe(1)
    const late = brackets('slate', 'brine', 'crate', 'craze', 'grace', 'crane')
    expect(play(name, 'crane', late).reward).toBe(1)
  })

  test('a loss pays by the last guess alone: (greens + half the yellows) / 5', () => {
    // trace: X G G Y G; the five before do not count.
    const near = brackets('crate', 'slate', 'brine', 'craze', 'grace', 'trace')
    expect(play(name, 'crane', near).reward).toBeCloseTo((3 + 0.5) / 5, 12)
    const far = brackets('crate', 'slate', 'brine', 'craze', 'grace', 'mouth')
    expect(play(name, 'crane', far).reward).toBe(0)
  })

  test('giving up by two invalid guesses pays as much as a loss: the flaw that the default mends', () => {
    // crate: G G G X G
    expect(play(name, 'crane', [...brackets('crate'), 'x y', 'x y']).reward).toBeCloseTo(4 / 5, 12)
    expect(play(name, 'crane', ['x y', 'x y']).reward).toBe(0)
  })

  test('a game that the agent left pays nothing', () => {
    expect(play(name, 'crane', brackets('crate')).reward).toBe(0)
  })

  test('the first bracketed word counts, or the whole message where it has no brackets', () => {
    expect(play(name, 'crane', ['[slate] or [crane]']).state.guesses[0]?.word).toBe('slate')
    expect(play(name, 'crane', ['Crane']).state.end).toBe('won')
    expect(play(name, 'crane', ['it is crane']).state.invalid).toBe(1)
  })
})

describe('verifiers-v0', () => {
  const name = 'verifiers-v0'

  test('a win pays 1, the feedback before it, 1 / (turns + 1) and 0.2 for the format', () => {
    // slate: X X G X G, so 0.2 * 2; then crane wins in the second turn.
    expect(play(name, 'crane', v0('slate', 'crane')).reward).toBeCloseTo(1 + 0.4 + 1 / 3 + 0.2, 12)
    // grace: X G G Y G, so 3 greens and a yellow; brine before it does not count.
    expect(play(name, 'crane', v0('brine', 'grace', 'crane')).reward).toBeCloseTo(1 + 0.7 + 1 / 4 + 0.2, 12)
  })

  test('a win with the first guess sees no feedback, and gets one yellow from the text of the rules', () => {
    expect(play(name, 'crane', v0('crane')).reward).toBeCloseTo(1 + 0.1 + 1 / 2 + 0.2, 12)
  })

  test('a loss pays 0.2 a green and 0.1 a yellow of the last feedback, and the format', () => {
    const lost = v0('crate', 'slate', 'brine', 'craze', 'grace', 'trace')
    expect(play(name, 'crane', lost).reward).toBeCloseTo(0.2 * 3 + 0.1 + 0.2, 12)
  })

  test('a win without the brackets inside the element is no right answer', () => {
    const { reward, state } = play(name, 'crane', ['<think>hm</think><guess>crane</guess>'])
    expect(state.end).toBe('won')
    expect(reward).toBeCloseTo(0.1 + 0.2, 12)
    expect(play(name, 'crane', ['<think>hm</think><guess>[CRANE]</guess>']).reward).toBeCloseTo(0.3, 12)
  })

  test.each([
    ['<think>a</think><guess>[slate]</guess>', 1],
    ['<guess>[slate]</guess>', 0.2 + 0.2 + 0.2],
    ['<guess>[slate]</guess> there', 0.2 + 0.2],
    ['well, <think>a</think><guess>[slate]</guess>', 0.4 + 0.2 + 0.2],
    ['<think>a<guess>[slate]</guess>', 1],
    ['<think>a', 0.2 + 0.2],
    ['[slate]', 0.2],
    ['', 0.2],
  ])('the format of %j is worth %d', (message, score) => {
    // Feedback of slate against money: X X X X Y; without a guess, the yellow of the rules. One yellow either way.
    expect(play(name, 'money', [message]).reward).toBeCloseTo(0.1 + 0.2 * score, 12)
  })

  test('a message without a guess makes the one before it again, which is invalid', () => {
    const { state } = play(name, 'crane', [...v0('slate'), 'no idea', 'no idea'])
    expect(state).toMatchObject({ end: 'invalid', invalid: 2 })
    expect(state.guesses).toHaveLength(1)
  })

  test('an agent that says nothing gets nothing, and one that was not answered the format alone', () => {
    expect(play(name, 'crane', []).reward).toBe(0)
    const game: GameState = { guesses: [], invalid: 0, end: 'open' }
    const left = { game, secret: 'crane', messages: [''], partial: 0.2 }
    expect(profiles[name].reward(left)).toBeCloseTo(0.2 * 0.2, 12)
  })

  test('a win that comes later can pay more than an early one: the scale that the curves were published on', () => {
    const late = play(name, 'crane', v0('slate', 'crate', 'crane')).reward
    expect(late).toBeGreaterThan(play(name, 'crane', v0('crane')).reward)
  })
})

describe('default', () => {
  const name = 'default'
  const legal = fc.constantFrom(...wordsOf(5).legal)
  const invalid = fc.constantFrom('', 'hm', '[zzzzz]', '[toolong]', '[a] word', 'crane crane')
  const secret = fc.constantFrom(...wordsOf(5).secrets)
  const messages = fc.array(fc.oneof({ weight: 3, arbitrary: legal.map((word) => `[${word}]`) }, invalid), {
    maxLength: 6,
  })

  test('a win pays 1 whenever it comes; a loss by the places ever filled, at most the partial credit', () => {
    const late = brackets('slate', 'brine', 'crate', 'craze', 'grace', 'crane')
    expect(play(name, 'crane', late).reward).toBe(1)
    // The last guess fills nothing, and takes nothing away: c, r, a, e were found before.
    const lost = brackets('crate', 'slate', 'brick', 'craze', 'grace', 'mouth')
    expect(play(name, 'crane', lost).reward).toBeCloseTo((0.2 * 4) / 5, 12)
  })

  test('stopping never pays more than playing on, and an invalid guess never pays', () => {
    fc.assert(
      fc.property(secret, messages, (word, said) => {
        const { rewards, state } = play(name, word, said)
        let before = 0
        for (const [i, reward] of rewards.entries()) {
          expect(reward).toBeGreaterThanOrEqual(before)
          if (!/^\[[a-z]{5}\]$/.test(said[i]!) || said[i] === '[zzzzz]') expect(reward).toBe(before)
          before = reward
        }
        if (state.end !== 'won') expect(before).toBeLessThanOrEqual(0.2)
      }),
      { numRuns: 500 },
    )
  })

  test('the same property fails for textarena, so it can see the flaw', () => {
    const near = brackets('crate')
    const givenUp = play('textarena', 'crane', [...near, 'x y', 'x y']).reward
    const playedOn = play('textarena', 'crane', [
      ...near,
      ...brackets('slate', 'brine', 'craze', 'grace', 'mouth'),
    ]).reward
    expect(givenUp).toBeGreaterThan(playedOn)
  })

  test('the last bracketed word counts', () => {
    expect(play(name, 'crane', ['not [slate] but [ Crane ].']).state.end).toBe('won')
  })
})
