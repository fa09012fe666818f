import { createRng } from 'quintain'
import { type Options, profileOf, sayOf, wordsOfGame } from './options.ts'
import { greens } from './policies.ts'
import { tasksOf } from './tasks.ts'
import { TerseGame } from './terse-game.ts'
import type { Words } from './words.ts'

export interface TeacherGamesOptions {
  /** Of the environment: a terse game. */
  options: Options
  games: number
  seed: string
  /** What the teacher guesses from; all that may be guessed when absent. */
  words?: Words
}

/**
 * Games as `greens` plays them, a chat line each, on secrets of the split `train` alone: what a policy is warmed up on. Equal
 * seeds give equal bytes. `reward` and `success` are those of the environment.
 *
 * The system message is left out, as the renderers of policies that play nothing else leave it out.
 */
export function teacherGames({
  options,
  games,
  seed,
  words = wordsOfGame(options),
}: TeacherGamesOptions): string[] {
  const rng = createRng(seed)
  const train = tasksOf(options).filter(({ split }) => split === 'train')
  const order = rng.shuffle(train)
  const profile = profileOf(options)
  return Array.from({ length: games }, (_, i) => {
    const { word } = order[i % order.length]!.secret
    const { partial, bonus, maxGuesses } = options
    const game = new TerseGame(word, { maxGuesses, profile, words: wordsOfGame(options) })
    const script = greens({ words, say: sayOf(options), rng: rng.fork(i) })
    const messages = [{ role: 'user', content: game.open() }]
    let text = messages[0]!.content
    for (;;) {
      const { value } = script.next({ text, messages: [], results: [] })
      messages.push({ role: 'assistant', content: value })
      const { content, done } = game.reply(value)
      text = String(content)
      // Nobody answers to the end of a game, so it would teach nothing.
      if (done !== undefined) break
      messages.push({ role: 'user', content: text })
    }
    const state = game.finish()
    const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : []))
    const played = { game: state, secret: word, messages: said, partial, bonus, maxGuesses }
    return JSON.stringify({ messages, reward: profile.reward(played), success: state.end === 'won' })
  })
}

/** The games of training/code-games.jsonl. */
export function codeGames(options: Options): string[] {
  return teacherGames({ options, games: 1_000, seed: 'code-games' })
}
