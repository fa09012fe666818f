import { type Content, type Turn, textOf, type World } from 'quintain'

/** Numbers from `low` to `high`, both of them among them. */
export interface Range {
  low: number
  high: number
}

/** A guess with what was left to choose from when it was made. */
export interface Guess extends Range {
  number: number
}

/** What a game leaves behind. */
export interface GameState {
  guesses: Guess[]
  /** Messages that were no number of two digits. Each used up a guess. */
  invalid: number
  /** `open`: the agent stopped before the end. */
  end: 'won' | 'lost' | 'open'
}

/** A number as it is said, with two digits: 7 is `07`. */
export const digits = (number: number) => String(number).padStart(2, '0')

/** One game. What it says is as short as can be: the range, then `higher` or `lower`, or `?` for what is no number. */
export class HigherLowerGame implements World<GameState> {
  readonly #secret: number
  readonly #range: Range
  readonly #maxGuesses: number
  readonly #state: GameState = { guesses: [], invalid: 0, end: 'open' }
  #left: Range

  constructor(options: { secret: number; range: Range; maxGuesses: number }) {
    this.#secret = options.secret
    this.#range = options.range
    this.#left = options.range
    this.#maxGuesses = options.maxGuesses
  }

  open() {
    return `${digits(this.#range.low)}-${digits(this.#range.high)}`
  }

  reply(message: Content): Turn {
    const said = textOf(message).trim()
    if (!/^[0-9]{2}$/.test(said)) {
      this.#state.invalid++
      return this.#turn('?')
    }
    const number = Number(said)
    this.#state.guesses.push({ number, ...this.#left })
    if (number === this.#secret) {
      this.#state.end = 'won'
      return this.#turn('right')
    }
    // A guess outside of what is left tells nothing, and must not widen it.
    const { low, high } = this.#left
    const higher = number < this.#secret
    this.#left = higher ? { low: Math.max(low, number + 1), high } : { low, high: Math.min(high, number - 1) }
    return this.#turn(higher ? 'higher' : 'lower')
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
