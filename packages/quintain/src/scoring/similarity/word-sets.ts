import { wordsOf } from './words.ts'

/** Jaccard index of the sets of words: those that both have by those that either has. 0 where neither has any. */
export function jaccard(a: string, b: string): number {
  const { shared, left, right } = sizes(a, b)
  const either = left + right - shared
  return either === 0 ? 0 : shared / either
}

/** Sørensen-Dice coefficient of the sets of words: twice those that both have by the sum. 0 where neither has any. */
export function dice(a: string, b: string): number {
  const { shared, left, right } = sizes(a, b)
  return left + right === 0 ? 0 : (2 * shared) / (left + right)
}

function sizes(a: string, b: string): { shared: number; left: number; right: number } {
  const [left, right] = [new Set(wordsOf(a)), new Set(wordsOf(b))]
  return { shared: [...left].filter((word) => right.has(word)).length, left: left.size, right: right.size }
}
