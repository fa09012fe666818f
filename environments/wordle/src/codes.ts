import type { Words } from './words.ts'

/** The letters of which codes are made. */
const codeLetters = 'abcdef'

const known = new Map<number, Words>()

/**
 * Codes of a length: every combination of the six letters, repeats among them, may be guessed and may have to be. There are
 * 1,296 of four letters, as in Mastermind.
 */
export function codesOf(length: number): Words {
  const found = known.get(length)
  if (found !== undefined) return found
  let codes = ['']
  for (let i = 0; i < length; i++)
    codes = codes.flatMap((code) => [...codeLetters].map((letter) => code + letter))
  const set = new Set(codes)
  const words: Words = { legal: codes, secrets: codes, isLegal: (code) => set.has(code) }
  known.set(length, words)
  return words
}
