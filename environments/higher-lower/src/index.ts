import { environment, type Rng } from 'quintain'
import { z } from 'zod'
import { digits, type GameState, HigherLowerGame, type Range } from './game.ts'
import { bisection, counting, random, uniform } from './policies.ts'
import { tasksOf } from './tasks.ts'

export { type GameState, type Guess, HigherLowerGame, type Range } from './game.ts'

const options = z.object({
  maxGuesses: z.int().min(1).max(20).default(6),
  /** What a win earns beyond 1 for each guess that was not needed. */
  bonus: z.number().min(0).max(1).default(0.1),
  /** Numbers that are asked for in each range. */
  draws: z.int().min(1).max(100).default(4),
  /** Another seed asks for other numbers, and deals no range to another split. */
  seed: z.int().default(0),
})

const isOutside = ({ number, low, high }: GameState['guesses'][number]) => number < low || number > high

/** How far from the middle of what was left guesses were, as a share of its width: 0 is bisection, 0.25 any number. */
function fromMiddle({ guesses }: GameState): number | null {
  const inside = guesses.filter((guess) => !isOutside(guess))
  if (inside.length === 0) return null
  const shares = inside.map(({ number, low, high }) => Math.abs(number - (low + high) / 2) / (high - low + 1))
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

const playerOf = ({ task, rng }: { task: { data: Range }; rng: Rng }) => ({ range: task.data, rng })

export default environment({
  options,
  system: ({ options: { maxGuesses } }) =>
    `Guess a number. You are told a range, such as 20-75, and the number is one of it, both ends among them. You have ` +
    `${maxGuesses} guesses of two digits each. After each guess you are told whether the number is higher or lower. A "?" ` +
    'means that you did not say two digits, which uses up a guess too. Say your guess and nothing else.',
  tasks: ({ options }) => tasksOf(options),
  // The game ends itself; this is the longest that it can last.
  limits: ({ options }) => ({ turns: options.maxGuesses }),
  needs: ['turns'],

  world: (task, { options }) =>
    new HigherLowerGame({
      secret: task.secret.number,
      range: task.data,
      maxGuesses: options.maxGuesses,
    }),

  rewards: {
    game: ({ state, options: { bonus, maxGuesses } }) =>
      state.end === 'won' ? 1 + bonus * (maxGuesses - state.guesses.length - state.invalid) : 0,
  },
  metrics: {
    guesses: ({ state }) => state.guesses.length,
    invalid: ({ state }) => state.invalid,
    outside: ({ state }) =>
      state.guesses.length === 0 ? null : state.guesses.filter(isOutside).length / state.guesses.length,
    fromMiddle: ({ state }) => fromMiddle(state),
  },
  success: ({ state }) => state.end === 'won',

  *oracle({ task }) {
    yield digits(task.secret.number)
  },
  policies: {
    random: (context) => random(playerOf(context)),
    counting: (context) => counting(playerOf(context)),
    uniform: (context) => uniform(playerOf(context)),
    bisection: (context) => bisection(playerOf(context)),
  },
  floor: ['noop', 'random'],
})
