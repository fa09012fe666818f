import { lcsLength } from './bit-parallel.ts'
import { partialSimilarity } from './partial-similarity.ts'
import { codePointLength, symbolsOf } from './sequences.ts'
import { compareCodePoints, fuzzyWordsOf } from './words.ts'

/*
 * Similarities of two texts as RapidFuzz 3.10.1 `fuzz` gives them without a processor, by 100: from 0 to 1, in code
 * points. Null: too long to compare (see `mostSteps`).
 */

/** `fuzz.ratio`: twice the longest common subsequence by the sum of the lengths. */
export function ratio(a: string, b: string): number | null {
  if (a === b) return 1
  const symbols = symbolsOf(a, b)
  const common = lcsLength(symbols)
  return common === null ? null : (2 * common) / (symbols.a.length + symbols.b.length)
}

/** `fuzz.partial_ratio`: the ratio of the shorter text and the piece of the longer one that is most like it. */
export function partialRatio(a: string, b: string): number | null {
  if (a === b) return 1
  const [shorter, longer] = codePointLength(a) <= codePointLength(b) ? [a, b] : [b, a]
  const found = partialSimilarity(shorter, longer)
  if (found === null || found === 1 || codePointLength(shorter) !== codePointLength(longer)) return found
  return highest(found, partialSimilarity(longer, shorter))
}

/** `fuzz.token_sort_ratio`: the ratio of the words in order of their code points. */
export function tokenSortRatio(a: string, b: string): number | null {
  return ratio(sortedWords(fuzzyWordsOf(a)), sortedWords(fuzzyWordsOf(b)))
}

/** `fuzz.token_set_ratio`: words that both have count once and fully; all of one in the other is 1. */
export function tokenSetRatio(a: string, b: string): number | null {
  const { shared, onlyA, onlyB, empty } = wordSets(a, b)
  if (empty) return 0
  if (shared.length > 0 && (onlyA.length === 0 || onlyB.length === 0)) return 1
  const [restA, restB] = [sortedWords(onlyA), sortedWords(onlyB)]
  const [lengthA, lengthB] = [codePointLength(restA), codePointLength(restB)]
  const common = codePointLength(shared.join(' '))
  const gap = common > 0 ? 1 : 0
  const [withA, withB] = [common + gap + lengthA, common + gap + lengthB]
  const alike = lcsLength(symbolsOf(restA, restB))
  if (alike === null) return null
  const rest = 1 - (lengthA + lengthB - 2 * alike) / (withA + withB)
  if (common === 0) return rest
  return Math.max(rest, 1 - (gap + lengthA) / (common + withA), 1 - (gap + lengthB) / (common + withB))
}

/**
 * `fuzz.WRatio`: the highest of the ratio, of those of words at 0.95, and, where one text is half as long again as the
 * other, of those of pieces at 0.9 (0.6 from eight times the length).
 */
export function weightedRatio(a: string, b: string): number | null {
  if (a === '' || b === '') return 0
  const [lengthA, lengthB] = [codePointLength(a), codePointLength(b)]
  const whole = ratio(a, b)
  const longer = Math.max(lengthA, lengthB) / Math.min(lengthA, lengthB)
  if (longer < 1.5) return highest(whole, times(highest(tokenSetRatio(a, b), tokenSortRatio(a, b)), 0.95))
  const scale = longer < 8 ? 0.9 : 0.6
  return highest(
    highest(whole, times(partialRatio(a, b), scale)),
    times(partialTokenRatio(a, b), 0.95 * scale),
  )
}

/** `fuzz.partial_token_ratio`: 1 where a word is in both, else the partial ratio of the words in order. */
function partialTokenRatio(a: string, b: string): number | null {
  const { shared, onlyA, onlyB } = wordSets(a, b)
  if (shared.length > 0) return 1
  const all = partialRatio(sortedWords(fuzzyWordsOf(a)), sortedWords(fuzzyWordsOf(b)))
  return highest(all, partialRatio(sortedWords(onlyA), sortedWords(onlyB)))
}

function wordSets(a: string, b: string) {
  const [setA, setB] = [new Set(fuzzyWordsOf(a)), new Set(fuzzyWordsOf(b))]
  return {
    shared: [...setA].filter((word) => setB.has(word)),
    onlyA: [...setA].filter((word) => !setB.has(word)),
    onlyB: [...setB].filter((word) => !setA.has(word)),
    empty: setA.size === 0 || setB.size === 0,
  }
}

function sortedWords(words: readonly string[]): string {
  return words.toSorted(compareCodePoints).join(' ')
}

function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b)
}

function times(a: number | null, factor: number): number | null {
  return a === null ? null : a * factor
}
