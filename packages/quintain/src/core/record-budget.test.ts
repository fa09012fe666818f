import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonLine } from './index.ts'
import { RecordBudget } from './record-budget.ts'

describe('a budget for a record', () => {
  test('leaves alone what fits', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const budget = new RecordBudget(2 ** 20)
        expect(budget.holds(value)).toBe(true)
        expect(budget.take(value)).toBe(value)
        expect(budget.cut).toBe(false)
      }),
    )
  })

  test('cuts long texts once it is used up, by their middle, and says so in them', () => {
    const budget = new RecordBudget(30_000)
    const messages = ['a', 'b', 'c', 'd'].map((text) => ({ content: [{ text: text.repeat(10_000) }] }))
    expect(budget.holds(messages)).toBe(false)
    const kept = budget.take(messages)
    expect(kept.slice(0, 2)).toEqual(messages.slice(0, 2))
    expect(kept[3]!.content[0]!.text).toBe(
      `${'d'.repeat(1_000)}\n[... 8000 characters left out of the record ...]\n${'d'.repeat(1_000)}`,
    )
    expect(budget.cut).toBe(true)
  })

  test('counts line separators as they are written', () => {
    const budget = new RecordBudget(60_000)
    const line = jsonLine(budget.take(['\u2028'.repeat(7_000), '\u2028'.repeat(7_000)]))
    expect(budget.cut).toBe(true)
    expect(Buffer.byteLength(line)).toBeLessThan(60_000)
  })

  test('counts what texts take when they are written', () => {
    const text = fc
      .integer({ min: 4_001, max: 9_000 })
      .chain((length) =>
        fc
          .constantFrom('x', '\u0000', '"', '\u2028', 'ß', '漢', '😀', '\ud800')
          .map((one) => one.repeat(length)),
      )
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 12 }), (texts) => {
        const budget = new RecordBudget(60_000)
        const line = jsonLine(budget.take(texts))
        // Each text that is cut may go beyond it by its ends, in which each character may be escaped.
        expect(Buffer.byteLength(line)).toBeLessThan(60_000 + texts.length * 13_000)
        if (!budget.cut) expect(line).toBe(jsonLine(texts))
      }),
    )
  })
})
