import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText, cutWithMarker } from './cut-text.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
)
const isUtf8 = (value: string) => Buffer.from(value).toString() === value

test('a cut is valid UTF-8, within the limit, the longest such beginning', () => {
  fc.assert(
    fc.property(text, fc.nat(120), (whole, maxBytes) => {
      const cut = cutText(whole, maxBytes)
      const formed = whole.toWellFormed()
      expect(isUtf8(cut.text)).toBe(true)
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(maxBytes)
      expect(formed.startsWith(cut.text)).toBe(true)
      expect(cut.truncated).toBe(cut.text !== formed)
      const next = [...formed.slice(cut.text.length)][0]
      if (next !== undefined) expect(Buffer.byteLength(cut.text + next)).toBeGreaterThan(maxBytes)
    }),
  )
})

test('the marker is within the limit too, and says what was left out', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 300 }), (whole, maxBytes) => {
      const cut = cutWithMarker(whole, maxBytes)
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(maxBytes)
      expect(isUtf8(cut.text)).toBe(true)
    }),
  )
  expect(cutWithMarker('é'.repeat(100), 100)).toEqual({
    text: `${'é'.repeat(28)}\n[cut: the first 56 of 200 bytes are shown]`,
    truncated: true,
    bytes: 200,
  })
})
