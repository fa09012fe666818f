import { type Content, type Turn, textOf, type World } from 'quintain'
import type { Profile } from './profiles.ts'
import { wordsOf } from './words.ts'

/** A guess that was accepted, with one mark per letter: G, Y or X. */
export interface Guess {
  word: string
  marks: string
}

/** What a game leaves behind. */
export interface GameState {
  guesses: Guess[]
  /** Messages that held no acceptable guess. */
  invalid: number
  /** `invalid`: ended by a second invalid message in a row. `open`: the agent stopped before the end. */
  end: 'won' | 'lost' | 'invalid' | 'open'
}

/**
 * Marks a guess: G is the right letter in its place, Y a letter that stands elsewhere, X anything else. Each letter
 * of the secret pays for one mark: greens first, then yellows from the left. Upper and lower case are the same; both
 * words have one length.
 *
 * @example feedback('speed', 'erase') // 'YXYYX'
 */
export function feedback(guess: string, secret: string): string {
  const letters = guess.toLowerCase()
  const wanted = secret.toLowerCase()
  // Letters of the secret that have paid for no mark yet.
  let left = ''
  for (let i = 0; i < wanted.length; i++) if (letters[i] !== wanted[i]) left += wanted[i]
  let marks = ''
  for (let i = 0; i < wanted.length; i++) {
    if (letters[i] === wanted[i]) {
      marks += 'G'
      continue
    }
    const at = left.indexOf(letters[i]!)
    marks += at < 0 ? 'X' : 'Y'
    if (at >= 0) left = left.slice(0, at) + left.slice(at + 1)
  }
  return marks
}

function spaced(word: string): string {
  return word.split('').join(' ')
}

/** One game. It says itself when it is over, so a win with the last guess is a win. */
export class WordleGame implements World<GameState> {
  readonly #secret: string
  readonly #maxGuesses: number
  readonly #profile: Profile
  readonly #messages: string[] = []
  readonly #state: GameState = { guesses: [], invalid: 0, end: 'open' }
  #spent = 0
  #forgiven = false

  constructor(secret: string, options: { maxGuesses: number; profile: Profile }) {
    this.#secret = secret.toLowerCase()
    this.#maxGuesses = options.maxGuesses
    this.#profile = options.profile
  }

  open() {
    return `Guess the word of ${this.#secret.length} letters. You have ${this.#maxGuesses} guesses.`
  }

  reply(message: Content): Turn {
    this.#messages.push(textOf(message))
    const word = this.#profile.read(this.#messages)
    const problem = this.#problem(word)
    return problem === undefined ? this.#play(word!) : this.#refuse(problem)
  }

  finish(): GameState {
    return this.#state
  }

  #problem(word: string | undefined): string | undefined {
    if (word === undefined) return 'There is no word in square brackets.'
    if (word.length !== this.#secret.length) return `A guess has ${this.#secret.length} letters.`
    if (this.#state.guesses.some((guess) => guess.word === word)) return `You have guessed "${word}" before.`
    if (!wordsOf(word.length).isLegal(word)) return `"${word}" is not in the word list.`
    return undefined
  }

  #play(word: string): Turn {
    const marks = feedback(word, this.#secret)
    this.#state.guesses.push({ word, marks })
    this.#forgiven = false
    if (word === this.#secret) return this.#over('won', `Yes, the word is ${word}.`)
    return this.#spend(`${spaced(word.toUpperCase())}\n${spaced(marks)}`)
  }

  #refuse(problem: string): Turn {
    this.#state.invalid++
    if (!this.#profile.forgives) return this.#spend(`Not a valid guess. ${problem}`)
    if (this.#forgiven) return this.#over('invalid', `A second invalid guess in a row. ${problem}`)
    this.#forgiven = true
    return { content: `Not a valid guess. ${problem} Try again: one more invalid guess ends the game.` }
  }

  #spend(text: string): Turn {
    const left = this.#maxGuesses - ++this.#spent
    // The word is not told after a loss: it is a secret of the task, and this message is published.
    if (left === 0) return this.#over('lost', `${text}\nNo guesses left.`)
    return { content: `${text}\nYou have ${left} ${left === 1 ? 'guess' : 'guesses'} left.` }
  }

  #over(end: GameState['end'], content: string): Turn {
    this.#state.end = end
    return { content, done: end }
  }
}
