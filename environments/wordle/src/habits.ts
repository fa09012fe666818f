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

/** Several metrics ask for the habits of one game. */
const known = new WeakMap<readonly Guess[], Habit[]>()

/** The habit of each guess after the first: the first has nothing to go by. */
export function habitsOf(guesses: readonly Guess[]): Habit[] {
  const found = known.get(guesses)
  if (found?.length === Math.max(0, guesses.length - 1)) return found
  const habits = guesses.slice(1).map(({ word }, at) => habitOf(word, guesses.slice(0, at + 1)))
  known.set(guesses, habits)
  return habits
}

function habitOf(word: string, earlier: readonly Guess[]): Habit {
  let coloured = ''
  for (const { word: seen, marks } of earlier)
    for (let at = 0; at < seen.length; at++) if (marks[at] !== 'X') coloured += seen[at]
  let yellowIgnored = false
  let greyReused = false
  for (const { word: seen, marks } of earlier)
    for (let at = 0; at < seen.length; at++) {
      const letter = seen[at]!
      const again = word[at] === letter
      if (marks[at] === 'Y') yellowIgnored ||= again || !word.includes(letter)
      if (marks[at] === 'X') greyReused ||= again || (!coloured.includes(letter) && word.includes(letter))
    }
  return {
    consistent: earlier.every((guess) => feedback(guess.word, word) === guess.marks),
    yellowIgnored,
    greyReused,
    repeated: earlier.some((guess) => guess.word === word),
  }
}

/** Share of the guesses after the first that have a habit; null of a game that has no second guess. */
export function shareOf(guesses: readonly Guess[], habit: keyof Habit): number | null {
  const habits = habitsOf(guesses)
  return habits.length === 0 ? null : habits.filter((one) => one[habit]).length / habits.length
}
