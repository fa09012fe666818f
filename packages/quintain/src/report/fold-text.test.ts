import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldText } from './fold-text.ts'

describe('foldText', () => {
  test('never longer than allowed by much, keeps head and tail, says how much is hidden', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 80 }), { maxLength: 200 }), (lines) => {
        const text = lines.join('\n')
        const folded = foldText(text, { lines: 10, characters: 300 })
        expect(folded.split('\n').length).toBeLessThanOrEqual(11)
        expect(folded.length).toBeLessThanOrEqual(300 + 60)
        if (text.split('\n').length <= 10 && text.length <= 300) expect(folded).toBe(text)
        else expect(folded).toContain('folded')
      }),
    )
  })
})
