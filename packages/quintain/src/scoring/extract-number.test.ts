import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractAnswer } from './extract-answer.ts'
import { readNumber } from './number-read.ts'
import { sameValue, toNumber } from './number-value.ts'

const found = (text: string) => {
  const { number, reason } = extractAnswer(text, { kind: 'final_number' })
  return number === undefined ? reason : toNumber(number.value)
}

const declarations = [
  (answer: string) => `#### ${answer}`,
  (answer: string) => `9 + 9 is easy.\n#### ${answer}`,
  (answer: string) => `The answer is ${answer}`,
  (answer: string) => `The answer is: ${answer}`,
  (answer: string) => `So, the final answer is ${answer}`,
  (answer: string) => `Therefore the correct answer would be ${answer}`,
  (answer: string) => `The answer to the problem is ${answer}`,
  (answer: string) => `Final answer: ${answer}`,
  (answer: string) => `**Final Answer:** ${answer}`,
  (answer: string) => `**Final Answer**\n\n${answer}`,
  (answer: string) => `### Answer\n${answer}`,
  (answer: string) => `Answer (in dollars): ${answer}`,
  (answer: string) => `Answer = ${answer}`,
  (answer: string) => `A: ${answer}`,
  (answer: string) => `**The final answer is ${answer}**`,
  (answer: string) => `Step 1: 3 + 4 = 7.\n\nMy answer: ${answer}`,
]
/** What stands alone as well as behind a declaration. */
const elements = [
  (answer: string) => `\\boxed{${answer}}`,
  (answer: string) => `$\\boxed{${answer}}$`,
  (answer: string) => `\\(\\boxed{${answer}}\\)`,
  (answer: string) => `\\[ \\boxed{${answer}} \\]`,
  (answer: string) => `**$\\boxed{${answer}}$**`,
  (answer: string) => `\\boxed{\\boxed{${answer}}}`,
  (answer: string) => `\\boxed{\\text{${answer}}}`,
  (answer: string) => `\\boxed{\\$${answer}}`,
  (answer: string) => `\\fbox{${answer}}`,
  (answer: string) => `<answer>${answer}</answer>`,
  (answer: string) => `<answer>\n**${answer}**\n</answer>`,
]
const wrappers = [
  (answer: string) => answer,
  (answer: string) => `$${answer}$`,
  (answer: string) => `$$${answer}$$`,
  (answer: string) => `\\(${answer}\\)`,
  (answer: string) => `**${answer}**`,
  (answer: string) => `***${answer}***`,
  (answer: string) => `__${answer}__`,
  (answer: string) => `_${answer}_`,
  (answer: string) => `*${answer}*`,
  (answer: string) => `\`${answer}\``,
  (answer: string) => `"${answer}"`,
  (answer: string) => `(${answer})`,
  (answer: string) => `[${answer}]`,
  (answer: string) => `<b>${answer}</b>`,
  (answer: string) => `\\mathbf{${answer}}`,
  (answer: string) => `~${answer}`,
  (answer: string) => `about ${answer}`,
  (answer: string) => `n = ${answer}`,
]
const units = [
  '',
  ' apples',
  ' dollars',
  ' cm^2',
  ' m²',
  ' km/h',
  ' miles per hour',
  ' ✅',
  ' (apples)',
  ', in total',
  ' in all',
]
const endings = [
  '',
  '.',
  '!',
  '\n',
  '. I hope it is correct.',
  '.\nThis took 3 steps.',
  '\n\nLet me know if you need more!',
  '. Ok',
]

const wordings = fc.oneof(
  fc.tuple(fc.constantFrom(...declarations), fc.constantFrom(...elements, ...wrappers)).map(
    ([declare, wrap]) =>
      (answer: string) =>
        declare(wrap(answer)),
  ),
  fc.constantFrom(...elements),
)
const grouped = (value: number) => value.toLocaleString('en-US')
const numbers = fc
  .tuple(fc.integer({ min: -99_999, max: 9_999_999 }), fc.boolean(), fc.constantFrom('', '.00', '.5'))
  .map(([value, group, decimals]) => `${group ? grouped(value) : value}${decimals}`)

describe('a declared number', () => {
  test('is found in whatever it is wrapped, with what follows it', () => {
    fc.assert(
      fc.property(
        numbers,
        wordings,
        fc.constantFrom(...units),
        fc.constantFrom(...endings),
        (number, word, unit, end) => {
          const text = `${word(number)}${unit}${end}`
          const { number: read } = extractAnswer(text, { kind: 'final_number' })
          expect(read, text).toBeDefined()
          expect(sameValue(readNumber(number)!.value, read!.value), text).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['#### 18!', 18],
    ['#### 18 dollars ($18)', 18],
    ['#### 9 x 2 = 18', 18],
    ['#### 18 = 9 x 2', 18],
    ['The answer is 9 eggs x $2 per egg = $18.', 18],
    ['3 weeks is the answer = 21 days'.replace('3 weeks is the answer', '#### 3 weeks'), 21],
    ['The answer is 18, since 20 - 2 = 18.', 18],
    ['The answer is 7, not 18.', 7],
    ['#### 18 hours and 0 minutes', 18],
    ['#### 18 minutes (or 0.3 hours)', 18],
    ['#### - 5', -5],
    ['#### minus 5', -5],
    ['The answer is negative 5.', -5],
    ['-\\boxed{5}', -5],
    ['Answer:\n- 5', 5],
    ['#### ($5)', 5],
    ['#### ½', 0.5],
    ['#### 1 ½', 1.5],
    ['#### -\\frac{1}{2}', -0.5],
    ['#### 1.08 × 10³', 1080],
    ['#### $1.5M', 1_500_000],
    ['#### $1.5m', 1_500_000],
    ['#### 2 dozen', 24],
    ['#### 5pm', 5],
    ['#### 12in', 12],
    ['9*2=<<9*2=18>>18 eggs', 18],
    ['#### ~~17~~ 18', 18],
    ['She has 18 eggs. Do you want me to show the 3 steps?', 18],
    ['It is 7. It is not 18.', 7],
  ])('%j gives %d', (text, value) => {
    expect(found(text)).toBe(value)
  })
})

describe('what is no single number is no answer', () => {
  test.each([
    // Choices, lists, ranges and parts.
    'The answer is 18 or 7.',
    'The answer is 18 dollars, or maybe 7.',
    'The answer is either 18, 7 or 5.',
    'The answer is between 7 and 18',
    '\\boxed{7} or \\boxed{18}',
    '\\boxed{7}\\boxed{18}',
    '\\boxed{7 \\text{ or } 18}',
    '\\boxed{18} or 7',
    'It might be 5, 6, 7, 8, 18',
    '18 or 7',
    'Either 7 or 18',
    '#### x=7, y=18',
    '#### 18 dollars 50 cents',
    '#### 18 ft 6 in',
    '#### 17 to 18',
    '#### 18 out of 20',
    // Relations and bounds.
    '#### >18',
    '#### $\\geq 18$',
    'The answer is at least 18.',
    'The answer is more than 18',
    '#### 18+',
    '#### 18 or more',
    '#### ±18',
    '#### 7 = 18',
    '#### 3x = 18',
    // Parts of calculations, and multiples.
    '#### half of 18',
    '#### twice 18',
    '#### 18\\pi',
    '$\\boxed{18\\pi}$',
    '#### 18 squared',
    '#### 18 times 2',
    'The answer is n + 18.',
    '\\boxed{5!}',
    'The answer is $5!$',
    '\\boxed{\\sqrt[3]{18}}',
    '\\boxed{\\frac{x}{18}}',
    // Denied and asked.
    'The answer is not 18.',
    "It isn't 18.",
    'Is it 18?',
    '#### 18?',
  ])('%j', (text) => {
    expect(found(text)).toMatch(/^(?:ambiguous|not_a_number|no_candidate)$/)
  })

  test.each([
    ['#### 18 dozen', 216],
    ['#### 18 hundred', 1800],
    ['#### 18M', 18_000_000],
    ['#### negative 18', -18],
    ['\\boxed{18}^2', 324],
  ])('%j is another number: %d', (text, value) => {
    expect(found(text)).toBe(value)
  })

  test('an alternative in any wording leaves it open', () => {
    const or = fc.constantFrom(' or ', ', or maybe ', ' / ', ' and ', ' or possibly ', ' to ', ' dollars or ')
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999 }),
        fc.integer({ min: 1, max: 999 }),
        or,
        fc.constantFrom(...declarations),
        (a, b, glue, declare) => {
          fc.pre(a !== b)
          expect(found(declare(`${a}${glue}${b}`))).toMatch(/ambiguous|not_a_number/)
        },
      ),
    )
  })
})
