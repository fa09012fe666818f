import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cosineSimilarity, type TextMetric, textMetrics, textSimilarity } from './text-similarity.ts'

const of = (metric: TextMetric, input: string, reference: string) =>
  textSimilarity({ metric, input, reference })

describe('textSimilarity', () => {
  test.each(textMetrics)('%s: two empty texts are alike, one is like nothing', (metric) => {
    expect(of(metric, '', '')).toBe(1)
    expect(of(metric, '', 'blue sky')).toBe(0)
    expect(of(metric, 'blue sky', '')).toBe(0)
  })

  test('values that can be worked out by hand', () => {
    expect(of('levenshtein', 'kitten', 'sitting')).toBeCloseTo(1 - 3 / 7, 12)
    expect(of('fuzzy_match', 'kitten', 'sitting')).toBeCloseTo(8 / 13, 12)
    expect(of('fuzzy_match', 'this is a test', 'this is a test!')).toBeCloseTo(28 / 29, 12)
    expect(of('token_sort_ratio', 'fuzzy wuzzy was a bear', 'wuzzy fuzzy was a bear')).toBe(1)
    expect(of('token_set_ratio', 'fuzzy fuzzy was a bear', 'fuzzy was a bear')).toBe(1)
    expect(of('partial_ratio', 'this is a test', 'yes, this is a test!')).toBe(1)
    expect(of('bleu', 'blue sky', 'blue sky')).toBe(1)
    expect(of('bleu', 'one two three four five', 'six one two three four')).toBeCloseTo(
      (4 / 5) ** 0.25 * (3 / 4) ** 0.25 * (2 / 3) ** 0.25 * (1 / 2) ** 0.25,
      12,
    )
    expect(of('gleu', 'a b', 'a c')).toBeCloseTo(1 / 3, 12)
    expect(of('rouge_1', 'the cat sat', 'the cat')).toBeCloseTo(0.8, 6)
    expect(of('rouge_l', 'sat the cat', 'the cat sat')).toBeCloseTo(2 / 3, 6)
    expect(of('cosine_tfidf', 'red red', 'red')).toBeCloseTo(1, 12)
  })

  test('meteor takes words of one stem for one word, and synonyms for two', () => {
    expect(of('meteor', 'cats', 'cat')).toBe(0.5)
    expect(of('meteor', 'The cats sat', 'the cat sat')).toBeCloseTo(1 - 0.5 / 27, 12)
    expect(of('meteor', 'big', 'large')).toBe(0)
  })

  test('counts code points', () => {
    expect(of('levenshtein', '👍', '👎')).toBe(0)
    expect(of('levenshtein', '北海', '北山')).toBe(0.5)
    expect(of('fuzzy_match', '👍a', '👎a')).toBe(0.5)
  })

  test('any two texts are measured, from 0 to 1, and a text is like itself', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(' ', '.', 'cat', '\ud800', '\0', '\u0085'),
    )
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.constantFrom(...textMetrics), text, text, (metric, a, b) => {
        const value = of(metric, a, b)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
        if (/^(?:levenshtein|fuzzy_match|partial_ratio)$/.test(metric)) {
          expect(of(metric, a, a)).toBe(1)
          expect(of(metric, b, a)).toBe(value)
        }
      }),
    )
  })

  test('bit-parallel distances are those of the plain tables, over any number of blocks', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 150 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const longest = Math.max(a.length, b.length)
        if (longest === 0) return
        expect(of('levenshtein', a, b)).toBeCloseTo(1 - plainDistance(a, b, 1) / longest, 10)
        expect(of('fuzzy_match', a, b)).toBeCloseTo(1 - plainDistance(a, b, 2) / (a.length + b.length), 10)
      }),
    )
  })

  test('says that it did not measure what would take hours', () => {
    const [a, b] = ['ab '.repeat(400_000), 'ba '.repeat(400_000)]
    expect(of('fuzzy_match', a, b)).toBeNull()
    expect(of('levenshtein', a, b)).toBeNull()
    expect(of('rouge_l', a, b)).toBeNull()
    expect(of('weighted_ratio', a, b)).toBeNull()
    expect(of('bleu', 'x'.repeat(30_000_000), 'y')).toBeNull()
  })

  test('measures a long answer against a short reference', () => {
    const answer = 'lorem ipsum dolor. '.repeat(50_000)
    expect(of('fuzzy_match', answer, 'lorem')).toBeCloseTo(10 / (answer.length + 5), 12)
    // The space at the end is a sentence of one empty word.
    expect(of('rouge_l', answer, 'lorem ipsum')).toBeCloseTo(2 / 3, 6)
    expect(of('meteor', answer, 'lorem ipsum')).toBeGreaterThan(0)
    expect(of('gleu', answer, 'lorem ipsum')).toBeGreaterThan(0)
  })
})

/** Edit distance by the table, a replacement costing one or as much as leaving out and putting in. */
function plainDistance(a: string, b: string, replacement: number): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : replacement
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost))
    }
    row = next
  }
  return row[b.length]!
}

describe('cosineSimilarity', () => {
  const embed = (vectors: number[][]) => async () => vectors
  const texts = { input: 'a', reference: 'b' }

  test('is the cosine of the two vectors, whatever their size', async () => {
    expect(
      await cosineSimilarity(
        embed([
          [1, 0],
          [1, 1],
        ]),
        texts,
      ),
    ).toBeCloseTo(Math.SQRT1_2, 12)
    expect(
      await cosineSimilarity(
        embed([
          [1e300, 0],
          [1e-300, 0],
        ]),
        texts,
      ),
    ).toBe(1)
    expect(
      await cosineSimilarity(
        embed([
          [2, 1],
          [-2, -1],
        ]),
        texts,
      ),
    ).toBeCloseTo(-1, 12)
  })

  test('is 0 for a vector without a direction', async () => {
    expect(
      await cosineSimilarity(
        embed([
          [0, 0],
          [1, 1],
        ]),
        texts,
      ),
    ).toBe(0)
    expect(
      await cosineSimilarity(
        embed([
          [Number.NaN, 0],
          [1, 1],
        ]),
        texts,
      ),
    ).toBe(0)
  })

  test('refuses what is not two vectors of one length', async () => {
    await expect(cosineSimilarity(embed([[1]]), texts)).rejects.toThrow(RangeError)
    await expect(cosineSimilarity(embed([[1], [1, 2]]), texts)).rejects.toThrow(RangeError)
  })
})
