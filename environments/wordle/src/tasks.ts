import { createRng } from 'quintain'
import { type Options, wordsOfGame } from './options.ts'
import { profiles } from './profiles.ts'
import { system } from './rules.ts'

/** Shares of the secrets that are kept from training; `train` is the rest. */
const parts = { words: { test: 0.5, validation: 0 }, code: { test: 0.4, validation: 0.1 } }

/** Every secret is one task of one split, so that nothing of a test is trained on. */
export function tasksOf(options: Options) {
  const { game, wordLength, seed } = options
  const family = game === 'code' ? `wordle/code/${wordLength}` : `wordle/${wordLength}`
  // The lists are sorted and public, so an id that counted along them would tell the word.
  const shuffled = createRng(family).shuffle(wordsOfGame(options).secrets)
  const test = Math.floor(parts[game].test * shuffled.length)
  const validation = test + Math.floor(parts[game].validation * shuffled.length)
  const splits = {
    test: shuffled.slice(0, test),
    ...(validation > test ? { validation: shuffled.slice(test, validation) } : {}),
    train: shuffled.slice(validation),
  }
  // A search for leaked secrets would find these words in every transcript. They leave a gap in the ids.
  const formats = Object.values(profiles).map((profile) => profile.format)
  const texts = [system(options), ...formats, ...Object.keys(splits)].join(' ')
  const said = new Set(texts.toLowerCase().match(/[a-z]+/g))
  return Object.entries(splits).flatMap(([split, words]) =>
    createRng(`${family}/${split}/${seed}`)
      .shuffle(words)
      .map((word, i) => ({
        id: `${split}-${seed}-${String(i).padStart(3, '0')}`,
        split,
        secret: { word },
      }))
      .filter(({ secret }) => !said.has(secret.word)),
  )
}
