import { cosineOf } from './cosine.ts'

const word = /[\p{L}\p{N}_]+/gu

/**
 * Cosine of the tf-idf vectors of two texts, the two being all there is: words are lower-case runs of letters, digits and
 * underscores, the weight of one is its count times `ln(3 / (1 + texts that have it)) + 1`. That is scikit-learn's
 * `TfidfVectorizer` with words of one letter kept. 0 where a text has no words, unless both are the same.
 */
export function tfidfCosine(a: string, b: string): number {
  if (a === b) return 1
  const [left, right] = [countWords(a), countWords(b)]
  const [x, y]: [number[], number[]] = [[], []]
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const [m, n] = [left.get(key) ?? 0, right.get(key) ?? 0]
    const weight = Math.log(3 / (1 + Math.sign(m) + Math.sign(n))) + 1
    x.push(m * weight)
    y.push(n * weight)
  }
  return cosineOf(x, y)
}

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [each] of text.toLowerCase().matchAll(word)) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}
