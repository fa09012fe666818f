import { readFileSync } from 'node:fs'
import common from '@nkzw/safe-word-list'
import wordListPath from 'word-list'

/** What may be guessed and what may have to be, of one length, in lower case. */
export interface Words {
  /** Words that may be guessed. */
  readonly legal: readonly string[]
  /** Words that may have to be guessed, a part of `legal`: of words the common ones, of codes all. */
  readonly secrets: readonly string[]
  isLegal(word: string): boolean
}

/** The file of the `word-list` package, which the environment's process must be allowed to read. */
export const wordFile = wordListPath

const known = new Map<number, Words>()

/** The words of a length. Read from their packages once per process. */
export function wordsOf(length: number): Words {
  const found = known.get(length)
  if (found !== undefined) return found
  const legal = readFileSync(wordFile, 'utf8')
    .split('\n')
    .filter((word) => word.length === length)
  const set = new Set(legal)
  const words: Words = {
    legal,
    secrets: common.filter((word) => word.length === length && set.has(word)),
    isLegal: (word) => set.has(word),
  }
  known.set(length, words)
  return words
}
