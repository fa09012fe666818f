import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchExact, matchPattern } from './answer-match.ts'
import { extractAnswer } from './extract-answer.ts'
import { readNumber } from './number-read.ts'
import { findNumbers } from './number-text.ts'
import { matchNumber } from './numeric-match.ts'
import { tagAnswer, tagFormat } from './tags.ts'
import { stripReasoning } from './thinking.ts'

const scanners: Record<string, (text: string) => unknown> = {
  boxed: (text) => extractAnswer(text, { kind: 'boxed' }),
  boxed_list: (text) => extractAnswer(text, { kind: 'boxed_list' }),
  hash_marker: (text) => extractAnswer(text, { kind: 'hash_marker' }),
  final_number: (text) => extractAnswer(text, { kind: 'final_number' }),
  choice: (text) => extractAnswer(text, { kind: 'choice', choices: ['A', 'B', 'C', 'is it'] }),
  code: (text) => extractAnswer(text, { kind: 'code' }),
  stripReasoning,
  findNumbers,
  readNumber,
  any: (text) => matchNumber({ target: '18', output: text, location: 'any' }),
  exact: (text) => matchExact({ target: '18', output: text }),
  pattern: (text) => matchPattern({ target: '18', output: text, pattern: /x(\d+)/ }),
  tagAnswer: (text) => tagAnswer(text, { field: 'answer' }),
  tagFormat: (text) => tagFormat(text, { fields: ['think', 'answer'] }),
}

/** What scanners stumble over when it is repeated. */
const pieces = [
  ...[
    '\\boxed{',
    '\\boxed{1}',
    '\\boxed{7} or ',
    '{',
    '}',
    '\\',
    '\\frac{1',
    '\\frac{1}{2}',
    '\\text{',
    '\\,',
    '\\ ',
    '\\sqrt{',
  ],
  ...[
    '#### ',
    '####\n',
    '#### 1\n',
    '#### x',
    'answer is ',
    'the answer is not 18 ',
    'answer\n',
    'Answer: ',
    'A: 1\n',
    'answer to the of ',
  ],
  ...[
    '1',
    '1 ',
    '1,',
    '1.',
    '1-',
    '1/',
    '1e',
    '10^',
    '1½',
    '1 000 ',
    '1 2/3',
    '10×10³',
    '- ',
    '18 or ',
    '18, ',
    '1 + ',
    '1 = ',
    'not 1 ',
    'not 1. ',
    'is 1? ',
    'half of 1 ',
  ],
  ...[
    '$',
    '$1',
    '$a$',
    '$$',
    ' ',
    '\t',
    '\n',
    '\r',
    '.',
    '. ',
    '!',
    '?',
    '? ',
    ')',
    '(',
    '( ',
    '[',
    '(A) ',
    'A)\n',
    'is ',
    'is  ',
    'B, ',
  ],
  ...[
    '*',
    '**',
    '* ',
    '_',
    '`',
    '```\n',
    '~',
    '~~',
    '<',
    '<b>',
    '<<',
    '<answer>',
    '<answer>1</answer>',
    '<think>',
    '</think>',
    '<think ',
    '[THINK]',
    '◁think▷',
  ],
  ...[
    '<|channel|>',
    '<|channel|>final<|message|>',
    '<|end|>',
    '✅',
    '½',
    'é',
    '\u00a0',
    '\ud800',
    'x',
    'word ',
    'dozen ',
    "'",
    '"',
    'because ',
  ],
]
const nests = [
  ['\\boxed{', '}'],
  ['{', '}'],
  ['(', ')'],
  ['\\text{', '}'],
  ['<answer>', '</answer>'],
  ['<think>', '</think>'],
  ['$', '$'],
  ['**', '**'],
] as const
const ends = ['', '18', 'x', '}', '\rx']

describe('whatever a model writes', () => {
  test.each(Object.entries(scanners))('%s has a value for it', (_name, scan) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...pieces), fc.integer({ min: 1, max: 40 })), { maxLength: 8 }),
        (runs) => {
          scan(runs.map(([piece, times]) => piece.repeat(times)).join(''))
        },
      ),
      { numRuns: 100 },
    )
  })

  test('nesting of any depth has a value', () => {
    for (const [open, close] of nests) {
      const text = `${open.repeat(20_000)}7${close.repeat(20_000)}`
      for (const scan of Object.values(scanners)) scan(text)
    }
    const deep = `${'\\boxed{'.repeat(3_000)}7${'}'.repeat(3_000)}`
    expect(extractAnswer(deep, { kind: 'boxed' }).answer).toBe('7')
    expect(extractAnswer(deep, { kind: 'final_number' }).answer).toBe('7')
  })
})

/** The time of this process that a call takes, in microseconds: what others do at the same time is not in it. */
function cost(scan: (text: string) => unknown, text: string): number {
  const before = process.cpuUsage()
  scan(text)
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Four times the text may take four times as long, and more for bad luck; sixteen times is a square. */
const mostGrowth = 10
/** Below this a clock says nothing, and a square would not stay, in microseconds. */
const least = 10_000
const length = 5_000

function grows(scan: (text: string) => unknown, text: (length: number) => string): boolean {
  if (cost(scan, text(length)) < least) return false
  // Noise passes; a square stays.
  const ratio = () => cost(scan, text(4 * length)) / Math.max(1, cost(scan, text(length)))
  return [1, 2, 3, 4].every(() => ratio() > mostGrowth)
}

describe('time grows as the text does', () => {
  test.each(Object.entries(scanners))('%s', (_name, scan) => {
    const slow = []
    for (const piece of pieces) {
      for (const end of ends) {
        if (grows(scan, (most) => piece.repeat(Math.ceil(most / piece.length)) + end)) slow.push([piece, end])
      }
    }
    for (const [open, close] of nests) {
      if (grows(scan, (most) => open.repeat(most / 10) + close.repeat(most / 10))) slow.push([open, close])
    }
    expect(slow).toEqual([])
  })
})
