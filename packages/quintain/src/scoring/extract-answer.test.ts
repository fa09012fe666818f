import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractAnswer } from './extract-answer.ts'
import { toNumber } from './number-value.ts'

const boxed = (text: string) => extractAnswer(text, { kind: 'boxed' }).answer
const list = (text: string) => extractAnswer(text, { kind: 'boxed_list' }).answer
const hash = (text: string) => extractAnswer(text, { kind: 'hash_marker' }).answer
const choice = (text: string, choices = ['A', 'B', 'C', 'D']) =>
  extractAnswer(text, { kind: 'choice', choices })
const number = (text: string, truncated = false) => {
  const found = extractAnswer(text, { kind: 'final_number', truncated })
  return found.number === undefined ? found.reason : toNumber(found.number.value)
}

describe('boxed', () => {
  test.each([
    ['\\boxed{512} and again \\boxed{512}', '512'],
    ['\\boxed{\\frac{3}{7}}', '\\frac{3}{7}'],
    ['\\boxed{\\{1, 2\\}}', '\\{1, 2\\}'],
    ['\\boxed{a{b{c}}d} x', 'a{b{c}}d'],
    ['\\boxed{\\boxed{5}}', '5'],
    ['\\boxed 5', '5'],
    ['\\fbox{9}', '9'],
    ['\\[ \\boxed{36} \\]', '36'],
    ['\\boxed{5} then \\boxed{}', '5'],
    ['\\boxed{3} then \\boxed{\\frac{4', '3'],
    ['<think>\\boxed{10}</think>\\boxed{11}', '11'],
  ])('%s gives %s', (text, answer) => {
    expect(boxed(text)).toBe(answer)
  })

  test('nothing complete is nothing, with the reason', () => {
    const reason = (text: string) => extractAnswer(text, { kind: 'boxed' }).reason
    expect(reason('We conclude \\boxed{\\frac{3}{7}')).toBe('unclosed')
    expect(reason('\\boxed{}')).toBe('no_candidate')
    expect(reason('\\boxed{ \\text{ } }')).toBe('no_candidate')
    expect(reason('it is 5')).toBe('no_candidate')
    expect(reason('<think>try \\boxed{10}, hmm')).toBe('unterminated_reasoning')
    expect(reason('  ')).toBe('empty')
  })

  test('the last balanced content comes out as it went in', () => {
    const content = fc
      .letrec((tie) => ({
        part: fc.oneof(
          { depthSize: 'small' },
          fc.stringMatching(/^[a-z0-9+\- ]{1,6}$/),
          tie('part').map((inner) => `{${inner as string}}`),
          fc.tuple(tie('part'), tie('part')).map(([a, b]) => `${a as string}\\frac{1}${b as string}`),
        ),
      }))
      .part.map((inner) => `z${inner as string}z`)
    fc.assert(
      fc.property(content, fc.string(), (inner, before) => {
        expect(boxed(`${before.replace(/[<[◁\\]/g, '')} \\boxed{${inner}} done`)).toBe(inner.trim())
      }),
    )
  })
})

test.each([
  ['The roots: \\boxed{3}, \\boxed{5} and \\boxed{9}', ['3', '5', '9']],
  ['$\\boxed{3}$,\n$\\boxed{4}$', ['3', '4']],
  ['First \\boxed{1}. So it is \\boxed{3}, \\boxed{5}', ['3', '5']],
  ['\\boxed{3, 5, 9}', ['3', '5', '9']],
  ['\\boxed{\\{3,5\\}}', ['3', '5']],
  ['\\boxed{(1,2),(3,4)}', ['(1,2)', '(3,4)']],
  ['\\boxed{1,250}', ['1,250']],
  ['none', null],
])('boxed_list: %s', (text, answer) => {
  expect(list(text)).toEqual(answer)
})

test.each([
  ['Example: #### 12\n\nso it is 30.\n#### 30', '30'],
  ['#### $1,234.', '$1,234'],
  ['####30', '30'],
  ['#### **7**', '7'],
  ['#### Step 1\nadd\n#### 12\n#### Check\n5', '12'],
  ['#### yes', 'yes'],
  ['####\nnothing', null],
  ['##### 5', null],
  ['5', null],
])('hash_marker: %j', (text, answer) => {
  expect(hash(text)).toBe(answer)
})

describe('final_number', () => {
  test.each([
    ['Left 640, right 12+41*4 = 176.\n\nFinal Answer: **91**', 91],
    ['**Final Answer**\n\n42', 42],
    ['Final answer: 91 (see step 3)', 91],
    ['The answer is 3 + 4 = 7 apples for 2 days.', 7],
    ['The answer is 12. No wait, the answer is 15.', 15],
    ['\\boxed{42} took 3 steps', 42],
    ['#### 18\nThis used 3 facts.', 18],
    ['Q: how many?\nA: 18', 18],
    ['#### 5 + 3 = 8 eggs', 8],
    ['#### Step 4: add\nso 7', 7],
    ['first 5, then 6', 6],
    ['the 5th has 20', 20],
    ['The answer is as follows: there are five. So 5.', 5],
  ])('%j gives %d', (text, value) => {
    expect(number(text)).toBe(value)
  })

  test('what is declared and is no number is no answer: nothing is taken from before it', () => {
    expect(number('5 + 5 = 10, so \\boxed{x + 1}')).toBe('not_a_number')
    expect(number('There are 5.\n#### 10 + n')).toBe('not_a_number')
    expect(number('There are 5.\nAnswer: twelve')).toBe('not_a_number')
    expect(number('the answer is 5 + 3')).toBe('not_a_number')
    expect(number('at 11:00')).toBe('not_a_number')
    expect(number('I refuse')).toBe('no_candidate')
  })

  test('of a text that was cut off, only what was declared and ended counts', () => {
    expect(number('16 - 3 = 13, so the total is 1', true)).toBe('truncated')
    expect(number('#### 1', true)).toBe('truncated')
    expect(number('\\boxed{18}\n\nLet me che', true)).toBe(18)
  })
})

describe('choice', () => {
  test.each([
    ['therefore \\boxed{\\text{C}}', 'C'],
    ['\\boxed{\\textbf{(C)}}', 'C'],
    ['First \\boxed{B}. Reconsidering, \\boxed{D}', 'D'],
    ['Correct answer is (B)\n', 'B'],
    ['ANSWER: C,', 'C'],
    ['Answer: b', 'B'],
    ['**ANSWER: C**', 'C'],
    ['Final answer: **B. Paris**', 'B'],
    ['The answer is option D', 'D'],
    ['Option B is correct', 'B'],
    ['So option (C) must be the right one.', 'C'],
    ['ANSWER: <C>', 'C'],
    ['ANSWER：C', 'C'],
    ['A：C', 'C'],
    ['Answer: The capital is (B)', 'B'],
    ["Answer: 'C'", 'C'],
    ['I would pick D.', 'D'],
    ['(B)', 'B'],
    ['B) Paris', 'B'],
    ['Answer: B\nA is wrong since it is late.', 'B'],
    ['<think>A?</think>\nC', 'C'],
  ])('%j gives %s', (text, answer) => {
    expect(choice(text).answer).toBe(answer)
  })

  test.each([
    ['ANSWER: E', 'not_a_choice'],
    ['Answer: A dog', 'not_a_choice'],
    ['Answer: Because', 'not_a_choice'],
    ['ANSWER: A, C', 'ambiguous'],
    ['the answer is B or C', 'ambiguous'],
    ['(A) is late and (B) is not', 'ambiguous'],
    ['A good question', 'no_candidate'],
    ['A) red\nB) blue\nC) green\nD) none', 'no_candidate'],
    ['<think>B', 'unterminated_reasoning'],
  ])('%j gives none: %s', (text, reason) => {
    expect(choice(text)).toEqual({ answer: null, reason })
  })

  test('choices may be words, and case tells them apart only where it must', () => {
    expect(choice('Answer: Blue', ['red', 'blue']).answer).toBe('blue')
    expect(choice('Answer: a', ['a', 'A']).answer).toBe('a')
    expect(choice('Answer: new york', ['New York', 'York']).answer).toBe('New York')
    expect(choice('Answer: 4', ['4', '14']).answer).toBe('4')
    expect(choice('Answer: 14', ['4', '14']).answer).toBe('14')
    expect(choice('Answer: B', []).answer).toBeNull()
  })
})

test('code: the last closed fence', () => {
  const code = (text: string) => extractAnswer(text, { kind: 'code' })
  expect(code('```ts\nconst a = 1\n```\nor\n~~~\nb\n~~~\nend').answer).toBe('b')
  expect(code('````\n```\nx\n```\n````').answer).toBe('```\nx\n```')
  expect(code('```\nclosed\n```\n```\nopen').answer).toBe('closed')
  expect(code('```\nopen')).toEqual({ answer: null, reason: 'unclosed' })
  expect(code('```\n```').answer).toBe('')
})

describe('any text', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom(
      '\\boxed{',
      '{',
      '}',
      '\\',
      '####',
      ' ',
      '\n',
      'Answer:',
      'the answer is ',
      'A',
      '(B)',
      '12',
      '3.5',
      ',',
      '-',
      '**',
      '```',
      '<think>',
      '</think>',
      '$',
      '%',
      '\\frac{1}{2}',
      '=',
    ),
  )
  const kinds = ['boxed', 'boxed_list', 'hash_marker', 'final_number', 'choice', 'code', 'text'] as const

  test('has an answer or a reason, and an answer stands in the text', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom(...kinds),
        fc.boolean(),
        (pieces, kind, truncated) => {
          const text = pieces.join('')
          const found =
            kind === 'choice'
              ? extractAnswer(text, { kind, choices: ['A', 'B'], truncated })
              : kind === 'boxed_list'
                ? extractAnswer(text, { kind, truncated })
                : extractAnswer(text, { kind, truncated })
          if (found.answer === null) expect(found.reason).toBeTypeOf('string')
          else if (kind === 'boxed' || kind === 'code' || kind === 'text')
            expect(text).toContain(found.answer)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('reasoning before it changes nothing, and reasoning without an end leaves nothing', () => {
    const plain = fc
      .array(piece, { maxLength: 15 })
      .map((pieces) => pieces.join('').replace(/<\/?think>|[[◁<]/g, ''))
    fc.assert(
      fc.property(
        plain,
        plain,
        fc.constantFrom('boxed', 'hash_marker', 'final_number'),
        (thought, said, kind) => {
          expect(extractAnswer(`<think>${thought}</think>${said}`, { kind })).toEqual(
            extractAnswer(said, { kind }),
          )
          expect(extractAnswer(`${said}<think>${thought}`, { kind }).answer).toBeNull()
        },
      ),
    )
  })

  test('none takes for ever', () => {
    const parts = [
      '\\boxed{',
      '{',
      '}',
      '#### ',
      'answer is ',
      '(A) ',
      'A\n',
      '**',
      '```\n',
      '<think>',
      '1 ',
      '\\boxed{1},',
      'Answer\n',
    ]
    for (const part of parts) {
      const text = part.repeat(10_000)
      for (const kind of kinds) {
        const found =
          kind === 'choice'
            ? extractAnswer(text, { kind, choices: ['A', 'B'] })
            : kind === 'boxed_list'
              ? extractAnswer(text, { kind })
              : extractAnswer(text, { kind })
        expect(found.answer === null || found.reason === undefined).toBe(true)
      }
    }
  })
})
