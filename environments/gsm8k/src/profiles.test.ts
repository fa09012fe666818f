import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { profiles } from './profiles.ts'

const judge = (said: string, gold = '18', truncated = false) =>
  Object.values(profiles)
    .map((profile) => Number(profile({ said, gold, truncated }).correct))
    .join('')

/**
 * What the three say of one answer in many spellings: robust, official, verifiers. The last is what Math-Verify 0.9.0
 * says of the same texts inside the script of verifiers; the README names what differs.
 */
const spellings: [string, string][] = [
  ['#### 18', '111'],
  ['#### 18.', '100'],
  ['#### 18.0', '101'],
  ['#### $18', '101'],
  ['#### 18 dollars', '110'],
  ['#### 18%', '111'],
  ['#### **18**', '100'],
  ['####18', '101'],
  ['#### 18 eggs per day', '110'],
  ['#### 7\n#### 18', '101'],
  ['#### 18\n#### 7', '010'],
  ['\\boxed{18}', '101'],
  ['#### $\\boxed{18}$', '101'],
  ['The answer is 18.', '101'],
  ['The answer is $18.00 for 3 days.', '101'],
  ['#### x = 18', '101'],
  ['#### 18.001', '000'],
  ['#### 18 or 7', '010'],
  ['#### -18', '000'],
  ['#### 18-18', '010'],
  ['#### 18 + 2', '010'],
  ['#### 18/2', '010'],
  ['#### 5 + 13 = 18', '101'],
  ['#### The answer is 18', '100'],
  ['#### 18,000', '000'],
  ['#### ~18', '100'],
  ['#### 18.0000001', '001'],
  ['<think>#### 7</think>\n#### 18', '101'],
  ['<think>#### 18</think>\n#### 7', '010'],
  ['<think>#### 18', '011'],
  ['#### 18\n\nLet me check with 3 more.', '111'],
  ['So 3 eggs, then 18 eggs.', '101'],
  ['180', '000'],
  ['', '000'],
]

test.each(spellings)('%j: robust, official, verifiers', (said, verdicts) => {
  expect(judge(said)).toBe(verdicts)
})

test('a message that was cut off is not read to its end by ours', () => {
  expect(judge('12 + 6 is 18', '18', true)).toBe('001')
  expect(judge('#### 18', '180', true)).toBe('000')
})

describe('every profile', () => {
  const gold = fc.integer({ min: -99_999, max: 9_999_999 })
  const grouped = (value: number) => value.toLocaleString('en-US')

  test('accepts the gold answer as the data writes it, with and without grouping', () => {
    fc.assert(
      fc.property(gold, fc.boolean(), fc.boolean(), (value, a, b) => {
        const write = (plain: boolean) => (plain ? String(value) : grouped(value))
        expect(judge(`${write(a)} + 0\n#### ${write(a)}`, write(b))).toBe('111')
      }),
    )
  })

  test('refuses another number in the same place', () => {
    fc.assert(
      fc.property(gold, gold, (value, other) => {
        fc.pre(value !== other)
        expect(judge(`#### ${other}`, String(value))).toBe('000')
        expect(judge(`It is ${value}, or no:\n#### ${other}`, String(value))).toBe('000')
      }),
    )
  })

  test('rules on any text', () => {
    const piece = fc.constantFrom(
      '#### ',
      '18',
      '\\boxed{',
      '}',
      '\n',
      '.',
      ',',
      '$',
      '**',
      '<think>',
      '</think>',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(judge(pieces.join(''))).toMatch(/^[01]{3}$/)
      }),
    )
  })
})
