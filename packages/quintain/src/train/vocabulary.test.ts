import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { specialTokens, textVocabulary } from './vocabulary.ts'

const first = specialTokens.length

/** By trying everything: the pieces of a text, of which each is the longest after which the rest can be written. */
function bySearch(text: string, texts: readonly string[]): string[] | undefined {
  if (text === '') return []
  for (const piece of texts.toSorted((a, b) => b.length - a.length)) {
    const rest = text.startsWith(piece) ? bySearch(text.slice(piece.length), texts) : undefined
    if (rest !== undefined) return [piece, ...rest]
  }
  return undefined
}

describe('a vocabulary of texts', () => {
  test('that overlap writes what can be written, by the longest that lead to the end, and nothing else', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 1, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 }),
        (texts, text) => {
          const vocabulary = textVocabulary(texts)
          const wanted = bySearch(text, texts)
          const ids: number[] = []
          if (wanted === undefined) expect(() => vocabulary.encode(text, ids)).toThrow('No token')
          else {
            vocabulary.encode(text, ids)
            expect(ids.map((id) => texts[id - first])).toEqual(wanted)
            expect(vocabulary.decode(ids)).toBe(text)
          }
        },
      ),
      { seed: 7, numRuns: 500 },
    )
  })

  test('says at once that a long text cannot be written, however many ways lead nearly there', () => {
    const { encode } = textVocabulary(Array.from({ length: 50 }, (_, at) => 'a'.repeat(at + 1)))
    expect(() => encode(`${'a'.repeat(50_000)}b`, [])).toThrow(
      expect.objectContaining({ code: 'prompt_invalid', message: expect.stringContaining('begins "b"') }),
    )
  })

  test('that stand there twice, are empty or none is refused', () => {
    for (const texts of [['a', 'b', 'a'], ['a', ''], []])
      expect(() => textVocabulary(texts)).toThrow(expect.objectContaining({ code: 'options_invalid' }))
  })
})
