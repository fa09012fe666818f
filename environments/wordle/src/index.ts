import { createRng, environment, textOf } from 'quintain'
import { z } from 'zod'
import { WordleGame } from './game.ts'
import { filter, random, solver } from './policies.ts'
import { type Played, type Profile, placed, profiles } from './profiles.ts'
import { wordFile, wordsOf } from './words.ts'

export { feedback, type GameState, type Guess, WordleGame } from './game.ts'
export { type Profile, profiles } from './profiles.ts'

const options = z.object({
  profile: z.enum(['default', 'textarena', 'verifiers-v0', 'verifiers-v1']).default('default'),
  wordLength: z.int().min(4).max(8).default(5),
  maxGuesses: z.int().min(1).max(20).default(6),
  /** The most that a lost game earns under the default profile, for all its letters found. */
  partial: z.number().min(0).max(0.9).default(0.2),
  /** Another seed deals the same words to other tasks of their split. */
  seed: z.int().default(0),
})
type Options = z.infer<typeof options>

const profileOf = ({ profile }: Options): Profile => profiles[profile]

const rules = ({ wordLength, maxGuesses }: Options) =>
  `You are playing Wordle. There is a secret word of ${wordLength} letters, and you have ${maxGuesses} guesses. ` +
  'After each guess you see a mark under each letter: G, it is in the right place; Y, the word has it in another ' +
  `place; X, the word has no more of it. A guess is an English word of ${wordLength} letters that you have not ` +
  'guessed before.'

/** Every secret is one task: half of them `test`, the others `train`, so that no word of a test is trained on. */
function tasks(options: Options) {
  const { wordLength, seed } = options
  // The lists are sorted and public, so an id that counted along them would tell the word.
  const shuffled = createRng(`wordle/${wordLength}`).shuffle(wordsOf(wordLength).secrets)
  const half = shuffled.length >> 1
  const splits = { test: shuffled.slice(0, half), train: shuffled.slice(half) }
  // A search for leaked secrets would find these words in every transcript. They leave a gap in the ids.
  const formats = Object.values(profiles).map((profile) => profile.format)
  const texts = [rules(options), ...formats, ...Object.keys(splits)].join(' ')
  const said = new Set(texts.toLowerCase().match(/[a-z]+/g))
  return Object.entries(splits).flatMap(([split, words]) =>
    createRng(`wordle/${wordLength}/${split}/${seed}`)
      .shuffle(words)
      .map((word, i) => ({
        id: `${split}-${seed}-${String(i).padStart(3, '0')}`,
        split,
        secret: { word },
      }))
      .filter(({ secret }) => !said.has(secret.word)),
  )
}

export default environment({
  options,
  system: ({ options }) => `${rules(options)}\n${profileOf(options).format}`,
  tasks: ({ options }) => tasks(options),
  // The game ends itself; this is the longest that it can last.
  limits: ({ options }) => ({ turns: options.maxGuesses * (profileOf(options).forgives ? 2 : 1) }),
  needs: ['turns'],
  permissions: { read: [wordFile] },

  world: (task, { options }) =>
    new WordleGame(task.secret.word, { maxGuesses: options.maxGuesses, profile: profileOf(options) }),

  rewards: {
    game: ({ task, state, transcript, options }) => {
      const own = transcript.messages.filter((message) => message.role === 'assistant')
      const played: Played = {
        game: state,
        secret: task.secret.word,
        messages: own.map((message) => textOf(message.content)),
        partial: options.partial,
      }
      return profileOf(options).reward(played)
    },
  },
  metrics: {
    guesses: ({ state }) => state.guesses.length,
    invalid: ({ state }) => state.invalid,
    placed: ({ state }) => placed(state),
  },
  success: ({ state }) => state.end === 'won',

  *oracle({ task, options }) {
    yield profileOf(options).say(task.secret.word)
  },
  policies: {
    random: ({ options, rng }) => random({ options, rng, say: profileOf(options).say }),
    filter: ({ options, rng }) => filter({ options, rng, say: profileOf(options).say }),
    solver: ({ options }) => solver({ options, say: profileOf(options).say }),
  },
  floor: ['noop', 'random'],
})
