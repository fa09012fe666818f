import { feedback, type Guess } from './game.ts'

/** How one guess treats what the guesses before it showed. */
export interface Habit {
  /** It could be the secret, by everything that was seen. */
  consistent: boolean
  /** A letter that was yellow is left out, or stands where it was yellow. */
  yellowIgnored: boolean
  /** A letter that was only ever grey is used, or a letter stands where it was grey. */
  greyReused: boolean
  /** It was made before. */
  repeated: boolean
}

/** The habit of each guess after the first: the first has nothing to go by. */
export function habitsOf(guesses: readonly Guess[]): Habit[] {
  return guesses.slice(1).map(({ word }, i) => habitOf(word, guesses.slice(0, i + 1)))
}

function habitOf(word: string, earlier: readonly Guess[]): Habit {
  const letters = (mark: string) =>
    earlier.flatMap((guess) =>
      [...guess.word].flatMap((letter, at) => (guess.marks[at] === mark ? [{ letter, at }] : [])),
    )
  const coloured = new Set([...letters('G'), ...letters('Y')].map(({ letter }) => letter))
  return {
    consistent: earlier.every((guess) => feedback(guess.word, word) === guess.marks),
    yellowIgnored: letters('Y').some(({ letter, at }) => word[at] === letter || !word.includes(letter)),
    greyReused: letters('X').some(
      ({ letter, at }) => word[at] === letter || (!coloured.has(letter) && word.includes(letter)),
    ),
    repeated: earlier.some((guess) => guess.word === word),
  }
}

/** Share of the guesses after the first that have a habit; null of a game that has no second guess. */
export function shareOf(guesses: readonly Guess[], habit: keyof Habit): number | null {
  const habits = habitsOf(guesses)
  return habits.length === 0 ? null : habits.filter((one) => one[habit]).length / habits.length
}
