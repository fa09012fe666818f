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
  ['The final answer is $\\boxed{18}$. I hope it is correct.', '101'],
  ['The answer is \\(\\boxed{18}\\).', '101'],
  ['**The final answer is $\\boxed{18}$**. Ok', '101'],
  ['#### 18!', '110'],
  ['#### 18 ✅', '110'],
  ['#### _18_', '100'],
  ['#### (18)', '101'],
  ['#### 18 cm^2', '110'],
  ['#### 18, in total', '110'],
  ['#### 18 dollars ($18)', '110'],
  ['#### 9 x 2 = 18', '101'],
  ['#### negative 18', '000'],
  ['#### half of 18', '000'],
  ['#### 18 dozen', '010'],
  ['#### 18\\pi', '010'],
  ['#### >18', '000'],
  ['\\boxed{7} or \\boxed{18}', '000'],
  ['<|channel|>analysis<|message|>#### 18', '011'],
  ['180', '000'],
  ['', '000'],
]

test.each(spellings)('%j: robust, official, verifiers', (said, verdicts) => {
  expect(judge(said)).toBe(verdicts)
})

test.each(['The answer is 18 or 7.', 'The answer is not 18.', 'It might be 5, 6, 7, 8, 18', '#### 7 = 18'])(
  '%j is no answer to ours, where Math-Verify picks 18',
  (said) => {
    expect(judge(said)).toBe('000')
  },
)

test('reasoning in channels is not read by ours; the final one is', () => {
  const said = (answer: string, thought: string) =>
    `<|channel|>analysis<|message|>#### ${thought}<|end|><|start|>assistant<|channel|>final<|message|>#### ${answer}<|return|>`
  expect(judge(said('18', '7'))[0]).toBe('1')
  expect(judge(said('7', '18'))[0]).toBe('0')
})

test('nesting of any depth is a wrong answer, and no fault of the grader', () => {
  for (const depth of [100, 3_000, 20_000]) {
    expect(judge(`${'\\boxed{'.repeat(depth)}7${'}'.repeat(depth)}`)).toBe('000')
    expect(judge(`${'\\boxed{'.repeat(depth)}18${'}'.repeat(depth)}`)).toBe('101')
  }
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
