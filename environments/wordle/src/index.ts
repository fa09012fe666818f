import { environment, type Rng, textOf } from 'quintain'
import { WordleGame } from './game.ts'
import { shareOf } from './habits.ts'
import { type Options, options, profileOf, sayOf, wordsOfGame } from './options.ts'
import { filter, greens, greys, random, solver } from './policies.ts'
import { type Played, placed } from './profiles.ts'
import { system } from './rules.ts'
import { tasksOf } from './tasks.ts'
import { TerseGame } from './terse-game.ts'
import { wordFile } from './words.ts'

export { feedback, type GameState, type Guess, WordleGame } from './game.ts'
export { type Habit, habitsOf } from './habits.ts'
export { type Profile, profiles } from './profiles.ts'
export { TerseGame } from './terse-game.ts'

const playerOf = ({ options, rng }: { options: Options; rng: Rng }) => ({
  words: wordsOfGame(options),
  say: sayOf(options),
  rng,
})

export default environment({
  options,
  system: ({ options }) => system(options),
  tasks: ({ options }) => tasksOf(options),
  // The game ends itself; this is the longest that it can last.
  limits: ({ options }) => ({ turns: options.maxGuesses * (profileOf(options).forgives ? 2 : 1) }),
  needs: ['turns'],
  permissions: { read: [wordFile] },

  world(task, { options }) {
    const settings = { maxGuesses: options.maxGuesses, profile: profileOf(options) }
    return options.terse
      ? new TerseGame(task.secret.word, { ...settings, words: wordsOfGame(options) })
      : new WordleGame(task.secret.word, settings)
  },

  rewards: {
    game: ({ task, state, transcript, options }) => {
      const own = transcript.messages.filter((message) => message.role === 'assistant')
      const played: Played = {
        game: state,
        secret: task.secret.word,
        messages: own.map((message) => textOf(message.content)),
        partial: options.partial,
        bonus: options.bonus,
        maxGuesses: options.maxGuesses,
      }
      return profileOf(options).reward(played)
    },
  },
  metrics: {
    guesses: ({ state }) => state.guesses.length,
    invalid: ({ state }) => state.invalid,
    placed: ({ state }) => placed(state),
    consistent: ({ state }) => shareOf(state.guesses, 'consistent'),
    yellowIgnored: ({ state }) => shareOf(state.guesses, 'yellowIgnored'),
    greyReused: ({ state }) => shareOf(state.guesses, 'greyReused'),
    repeated: ({ state }) => shareOf(state.guesses, 'repeated'),
  },
  success: ({ state }) => state.end === 'won',

  *oracle({ task, options }) {
    yield sayOf(options)(task.secret.word)
  },
  policies: {
    random: (context) => random(playerOf(context)),
    greens: (context) => greens(playerOf(context)),
    greys: (context) => greys(playerOf(context)),
    filter: (context) => filter(playerOf(context)),
    solver: (context) => solver(playerOf(context)),
  },
  floor: ['noop', 'random'],
})
