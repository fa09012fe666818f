import { z } from 'zod'
import { codesOf } from './codes.ts'
import { type Profile, profiles } from './profiles.ts'
import { type Words, wordsOf } from './words.ts'

export const options = z
  .object({
    /** `words` of English, or a `code` of the letters a to f. */
    game: z.enum(['words', 'code']).default('words'),
    profile: z.enum(['default', 'textarena', 'verifiers-v0', 'verifiers-v1']).default('default'),
    /** 5, and 4 for codes. */
    wordLength: z.int().min(4).max(8).optional(),
    /** 6, and 5 for codes. */
    maxGuesses: z.int().min(1).max(20).optional(),
    /** The most that a lost game earns under the default profile, for all its letters found: 0.2, and nothing for codes. */
    partial: z.number().min(0).max(0.9).optional(),
    /** What a win earns beyond 1 under the default profile, for each guess that was not needed: nothing, and 0.1 for codes. */
    bonus: z.number().min(0).max(1).optional(),
    /** Answers with a mark after each letter and nothing else, for policies of few tokens. Codes are always answered so. */
    terse: z.boolean().optional(),
    /** Another seed deals the same words to other tasks of their split. */
    seed: z.int().default(0),
  })
  .refine(({ game, terse, profile }) => (game === 'words' && terse !== true) || profile === 'default', {
    path: ['profile'],
    message: 'the profiles but the default one are of published word games, in their own words',
  })
  .refine(({ game, terse }) => game === 'words' || terse !== false, {
    path: ['terse'],
    message: 'codes are always answered tersely',
  })
  .refine(({ game, wordLength = 4 }) => game === 'words' || wordLength <= 5, {
    path: ['wordLength'],
    message: 'a code has 4 or 5 letters: there are 7,776 of five, and each is a task',
  })
  .transform(({ wordLength, maxGuesses, partial, bonus, terse, ...given }) => {
    const usual =
      given.game === 'code'
        ? { wordLength: 4, maxGuesses: 5, partial: 0, bonus: 0.1 }
        : { wordLength: 5, maxGuesses: 6, partial: 0.2, bonus: 0 }
    return {
      ...given,
      wordLength: wordLength ?? usual.wordLength,
      maxGuesses: maxGuesses ?? usual.maxGuesses,
      partial: partial ?? usual.partial,
      bonus: bonus ?? usual.bonus,
      terse: terse ?? given.game === 'code',
    }
  })
export type Options = z.infer<typeof options>

export const profileOf = ({ profile }: Options): Profile => profiles[profile]
export const wordsOfGame = ({ game, wordLength }: Options): Words =>
  game === 'code' ? codesOf(wordLength) : wordsOf(wordLength)

/** Writes a guess. Where a game is terse it stands alone, without the brackets that tell a word from its sentence. */
export const sayOf = (options: Options) => (options.terse ? (word: string) => word : profileOf(options).say)
