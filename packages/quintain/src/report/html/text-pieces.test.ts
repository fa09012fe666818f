import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginningOf, piecesOf } from './text-pieces.ts'

const text = fc
  .array(fc.oneof(fc.constantFrom('\n', '😀', 'ab', '\r\n'), fc.string({ unit: 'grapheme' })))
  .map((parts) => parts.join(''))

test('pieces are the text, each of about the size, and no character is parted', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 20 }), (said, size) => {
      const pieces = piecesOf(said, size)
      expect(pieces.join('')).toBe(said)
      for (const piece of pieces) {
        expect(piece.length).toBeGreaterThan(0)
        expect(piece.length).toBeLessThanOrEqual(size + 1)
        expect(piece.isWellFormed()).toBe(said.isWellFormed())
      }
    }),
  )
})

test('a piece ends after a line where one ends', () => {
  expect(piecesOf('one\ntwo\nthree', 9)).toEqual(['one\ntwo\n', 'three'])
})

test('only a long text is folded, by its lines or by its length', () => {
  expect(beginningOf('short')).toBeUndefined()
  expect(beginningOf('x'.repeat(3_100))).toBeUndefined()
  expect(beginningOf('x'.repeat(10_000))).toHaveLength(3_000)
  expect(beginningOf('line of text\n'.repeat(100))?.split('\n')).toHaveLength(40)
  expect(beginningOf('line of text\n'.repeat(100), { characters: 50, lines: 9 })).toHaveLength(50)
  expect(beginningOf(`${'x'.repeat(2_999)}😀${'x'.repeat(1_000)}`)?.isWellFormed()).toBe(true)
})
