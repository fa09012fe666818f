import { type Options, profileOf } from './options.ts'

const wordRules = ({ wordLength, maxGuesses }: Options) =>
  `You are playing Wordle. There is a secret word of ${wordLength} letters, and you have ${maxGuesses} guesses. ` +
  'After each guess you see a mark under each letter: G, it is in the right place; Y, the word has it in another ' +
  `place; X, the word has no more of it. A guess is an English word of ${wordLength} letters that you have not ` +
  'guessed before.'

/** What a terse game answers, and what it wants to hear. */
const terseRules = (guess: string) =>
  'After each guess you see it with a mark after each letter: G, it is in the right place; Y, the secret has it in another ' +
  `place; X, the secret has no more of it. A "?" means that you did not say ${guess}, which uses up a guess too. Say your ` +
  'guess and nothing else.'

const terseWordRules = ({ wordLength, maxGuesses }: Options) =>
  `You are playing Wordle. There is a secret word of ${wordLength} letters, and you have ${maxGuesses} guesses. ` +
  terseRules(`an English word of ${wordLength} letters`)

const codeRules = ({ wordLength, maxGuesses }: Options) =>
  `You are breaking a code. It is ${wordLength} letters from a to f, in any order, and a letter may come more than once. ` +
  `You have ${maxGuesses} guesses. ${terseRules(`${wordLength} letters from a to f`)}`

/** What the agent is told of the game before it begins. */
export function system(options: Options): string {
  if (options.game === 'code') return codeRules(options)
  return options.terse ? terseWordRules(options) : `${wordRules(options)}\n${profileOf(options).format}`
}
