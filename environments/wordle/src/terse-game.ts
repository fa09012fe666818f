import { type Content, type Turn, textOf, type World } from 'quintain'
import { feedback, type GameState, type Guess } from './game.ts'
import type { Profile } from './profiles.ts'
import type { Words } from './words.ts'

/** A guess with its marks, one after each letter: `aGbXcYdX`. A policy of few tokens reads a letter and its mark as one. */
function fused({ word, marks }: Guess): string {
  return [...word].map((letter, i) => letter + marks[i]).join('')
}

/**
 * One game that says as little as can be, since a small policy pays for each token: a guess with its marks, or `?` for what may
 * not be guessed. Either uses up a guess, and so does a guess that was made before.
 */
export class TerseGame implements World<GameState> {
  readonly #secret: string
  readonly #maxGuesses: number
  readonly #profile: Profile
  readonly #words: Words
  readonly #messages: string[] = []
  readonly #state: GameState = { guesses: [], invalid: 0, end: 'open' }

  constructor(secret: string, options: { maxGuesses: number; profile: Profile; words: Words }) {
    this.#secret = secret
    this.#maxGuesses = options.maxGuesses
    this.#profile = options.profile
    this.#words = options.words
  }

  open() {
    return 'Guess.'
  }

  reply(message: Content): Turn {
    this.#messages.push(textOf(message))
    const word = this.#profile.read(this.#messages)
    if (word === undefined || word.length !== this.#secret.length || !this.#words.isLegal(word)) {
      this.#state.invalid++
      return this.#turn('?')
    }
    const guess = { word, marks: feedback(word, this.#secret) }
    this.#state.guesses.push(guess)
    if (word === this.#secret) this.#state.end = 'won'
    return this.#turn(fused(guess))
  }

  finish(): GameState {
    return this.#state
  }

  #turn(content: string): Turn {
    const { guesses, invalid, end } = this.#state
    if (end === 'open' && guesses.length + invalid >= this.#maxGuesses) this.#state.end = 'lost'
    return this.#state.end === 'open' ? { content } : { content, done: this.#state.end }
  }
}
