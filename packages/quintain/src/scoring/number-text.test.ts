import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNumber } from './number-read.ts'
import { findNumbers } from './number-text.ts'
import { decimalValue, sameValue, toNumber } from './number-value.ts'

const worthOf = (text: string) => {
  const reading = readNumber(text)
  return reading === null ? null : toNumber(reading.value)
}
const separator = fc.constantFrom(',', '\u00a0', '\u2009', '\u202f', "'", '’', '{,}', '\\,')
const group = (digits: string, by: string) => digits.replace(/\B(?=(?:\d{3})+$)/g, () => by)

describe('readNumber', () => {
  test.each([
    ['$1,234.50', 1234.5],
    ['-$5', -5],
    ['$-5', -5],
    ['−7', -7],
    ['+7', 7],
    ['.5', 0.5],
    ['14.', 14],
    ['1.5e3', 1500],
    ['3 \\times 10^{4}', 30_000],
    ['10^3', 1000],
    ['2^{-3}', 0.125],
    ['\\frac{3}{4}', 0.75],
    ['-\\dfrac{3}{4}', -0.75],
    ['2\\frac{1}{3}', 7 / 3],
    ['2 1/2', 2.5],
    ['2½', 2.5],
    ['1.5 million', 1_500_000],
    ['$5k', 5000],
    ['12 cm', 12],
    ['12 big apples', 12],
    ['**91**', 91],
    ['$x = 5$', 5],
    ['\\text{42}', 42],
    ['\\(42\\)', 42],
    ['1,00,000', 100_000],
    ['1 250', 1250],
    ['~18', 18],
  ])('%s is %d', (text, value) => {
    expect(worthOf(text)).toBe(value)
  })

  test.each([
    '',
    'five',
    '11:00',
    '3-5',
    '3–5',
    '1,2,3',
    '12,34',
    '1.234.567',
    '1/2/2024',
    '1/0',
    '5 + 3',
    '3x',
    '7px',
    '1990s',
    '3rd',
    'x > 5',
    '±5',
    '5!',
    '\\sqrt{2}',
    '5 and 6',
    'A4',
    '1e9999999',
  ])('%j is no number', (text) => {
    expect(readNumber(text)).toBeNull()
  })

  test('percent signs and words are kept apart from the value', () => {
    for (const text of ['45%', '45 %', '45\\%', '45 percent', '45 per cent'])
      expect(readNumber(text)).toMatchObject({ text: '45', percent: true })
    expect(readNumber('45')).toMatchObject({ percent: false })
  })

  test('known units and currencies have one name in every spelling', () => {
    for (const text of ['$5', '5 dollars', '5 USD', 'US$5', '5$']) expect(readNumber(text)?.unit).toBe('$')
    for (const text of ['3 km', '3km', '3 kilometres', '3\\text{ km}'])
      expect(readNumber(text)?.unit).toBe('km')
    expect(readNumber('3 apples')?.unit).toBeUndefined()
  })

  test('a number is read back however its digits are grouped, with every digit', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.option(fc.stringMatching(/^\d{1,9}$/)),
        fc.boolean(),
        separator,
        (whole, decimals, negative, by) => {
          const tail = decimals === null ? '' : `.${decimals}`
          const plain = `${negative ? '-' : ''}${whole}${tail}`
          const written = `${negative ? '-' : ''}${group(String(whole), by)}${tail}`
          const reading = readNumber(written)
          expect(reading, written).not.toBeNull()
          expect(sameValue(reading!.value, decimalValue(plain)!)).toBe(true)
        },
      ),
    )
  })

  test('styling says nothing', () => {
    const style = fc.constantFrom(
      (text: string) => `**${text}**`,
      (text: string) => `\`${text}\``,
      (text: string) => `$${text}$`,
      (text: string) => `\\text{${text}}`,
      (text: string) => `\\mathbf{${text}}`,
      (text: string) => ` ${text}. `,
      (text: string) => `n = ${text}`,
    )
    fc.assert(
      fc.property(fc.integer(), style, style, (value, inner, outer) => {
        expect(worthOf(inner(String(value)))).toBe(value === 0 ? 0 : value)
        if (outer !== inner) expect(worthOf(outer(inner(String(value))))).not.toBe(value + 1)
      }),
    )
  })
})

describe('findNumbers', () => {
  const said = (text: string) => findNumbers(text).map((token) => token.text)

  test.each([
    ['16 - 3 - 4 = 9 eggs', ['16', '3', '4', '9']],
    ['16-3-4=9', ['16-3-4', '9']],
    ['He came 3rd with 20 points.', ['20']],
    ['- 5 apples\n- 6 pears', ['5', '6']],
    ['x = -3, y = - 4', ['-3', '-4']],
    ['14 ... done', ['14']],
    ['14...', ['14']],
    ['H2O and B12 and x_1', []],
    ['costs $46.00 in all.', ['46.00']],
    ['10^3 or 2 ^ 2', ['10^3', '2 ^ 2']],
  ])('%s', (text, expected) => {
    expect(said(text)).toEqual(expected)
  })

  test('what stands inside a calculation is no number of its own', () => {
    const operands = (text: string) =>
      findNumbers(text)
        .filter((token) => token.operand)
        .map((token) => token.text)
    expect(operands('the answer is 5 + 3')).toEqual(['5', '3'])
    expect(operands('5 * x, 20 - 3')).toEqual(['20', '3'])
    expect(operands('is **5**, *6* (six)')).toEqual([])
  })

  test('tokens of any text are in order, apart, and slices of it', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(
        '1',
        '23',
        ',',
        '.',
        '-',
        '$',
        '%',
        ' ',
        '{',
        '}',
        '\\frac',
        '^',
        '/',
        'e',
        '½',
        'km',
        '\n',
        '=',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        let from = 0
        for (const { start, end } of findNumbers(text)) {
          expect(start).toBeGreaterThanOrEqual(from)
          expect(end).toBeGreaterThan(start)
          from = end
        }
        expect(from).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  test('no text takes for ever', () => {
    for (const part of ['1', '1,', '1.', '-', '1-', '$', '{', '\\frac{1', '1 000 ', '1e', '1/', '10^', ' '])
      expect(findNumbers(part.repeat(20_000)).length).toBeLessThanOrEqual(80_000)
  })
})
