import { describe, expect, test } from 'vitest'
import { mathEqual, prepareMath } from './math-equal.ts'
import type { MathPolicy } from './math-policy.ts'

const r = String.raw
type Row = readonly [gold: string, answer: string, policy?: MathPolicy]

const equal: Record<string, readonly Row[]> = {
  numbers: [
    [r`\frac{1}{2}`, '0.5'],
    [r`13\frac{1}{2}\%`, r`13.5\%`],
    ['(x,y)=(1,2)', '(1,2)'],
    [r`\angle ABC = 30^\circ`, '30'],
    [r`\frac12`, '1/2'],
    [r`\frac{7}{3}`, '2 1/3'],
    [r`-2\frac13`, r`-\frac73`],
    ['10,000', r`10{,}000`],
    ['1250', '1\u00a0250'],
    ['0.0', '-0.0'],
    [r`1.2\times10^3`, '1.2e3'],
    [r`0.1\overline{6}`, r`\frac16`],
    ['2½', '5/2'],
    ['−3', '-3'],
    ['3 × 10⁸', '300000000'],
    ['5000000', '5 million'],
    ['11_{10}', '11'],
    [r`\binom{5}{2}`, '10'],
    ['5!', '120'],
  ],
  'roots, logarithms and angles': [
    [r`\sqrt{12}`, '2√3'],
    ['√16', '4'],
    [r`\frac{1}{1+\sqrt2}`, r`\sqrt2-1`],
    [r`\sqrt{3+2\sqrt2}`, r`1+\sqrt2`],
    [r`\sqrt[3]{2}\cdot\sqrt[3]{4}`, '2'],
    [r`\frac{\sqrt{2}+\sqrt{6}}{4}`, r`\cos 15^\circ`],
    ['log_10 100', '2'],
    [r`\log_28`, '3'],
    [r`\log_3 9`, r`\log_9 81`],
    ['ln(2)+ln(3)', r`\ln 6`],
    [r`\tan^{-1}(1)`, r`\frac{\pi}{4}`],
    [r`e^{i\pi/6}`, r`\frac{\sqrt{3}}{2}+\frac12 i`],
    [r`\frac{1}{i}`, '-i'],
  ],
  expressions: [
    ['x^2+2x+1', '(x+1)^2'],
    [r`\frac{1}{x}+\frac{1}{y}`, r`\frac{x+y}{xy}`],
    [r`2\cdot 3^{n-1}`, r`\frac{2}{3}3^n`],
    [r`\sin^2 x+\cos^2 x`, '1'],
    [r`\theta`, 'θ'],
  ],
  'equations and inequalities': [
    ['2x+6y-4=0', r`y=-\frac{1}{3}x+\frac{2}{3}`],
    [r`C=\frac{5}{9}(F-32)`, r`F=\frac95C+32`],
    [r`y=\frac{x+2}{x-1}`, r`y=1+\frac{3}{x-1}`],
    [r`x>\frac{1}{1-\sqrt2}`, r`x>-1-\sqrt2`],
    ['y>2x', '-y<-2x'],
    ['1<x<7.5', '7.5>x>1'],
    ['x = 3', '3'],
    ['x=1 or x=2', '2, 1'],
    [r`(-\infty, 2]`, 'x<=2', { relationsAsSets: true }],
    [r`(-\infty,1)\cup(3,\infty)`, 'x<1 or x>3', { relationsAsSets: true }],
  ],
  'lists, sets, intervals and matrices': [
    ['1,2,3', '3,2,1'],
    ['98,100,102', '98, 100, 102'],
    ["1'250", '1250'],
    [r`\{2,3,3\}`, r`\{2,3\}`],
    [r`\pm 3`, '3,-3'],
    [r`[0,1)\cup[1,2]`, '[0,2]'],
    [r`(-\infty,0)\cup(0,\infty)`, r`\mathbb{R}\setminus\{0\}`],
    [r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, '[[1,2],[3,4]]'],
    [r`\begin{pmatrix}1\\2\end{pmatrix}`, '(1,2)'],
    [r`\begin{vmatrix}a&b\\c&d\end{vmatrix}`, 'ad-bc'],
    [r`\begin{vmatrix}2&0&1\\1&3&2\\0&1&1\end{vmatrix}`, r`\begin{vmatrix}3\end{vmatrix}`],
  ],
  'words, units and percent': [
    [r`\text{Evelyn}`, 'evelyn'],
    ['(A)', r`\text{A}`],
    ['$18.00', '18 dollars'],
    ['12 cm', '12'],
    [r`3\text{ in}^2`, '3 square inches'],
    [r`90^\circ`, '90 degrees'],
    [r`5\text{ m/s}`, '5 m/s'],
    [r`-9.8\ \text{m/s}^2`, '-9.8 m/s^2'],
    [r`\frac{1}{2}\text{ m}`, '0.5 m'],
    ['12.5 per cent', r`12.5\%`],
    ['50%', '1/2'],
    ['50%', '50', { percent: 'optional' }],
  ],
}

const different: Record<string, readonly Row[]> = {
  numbers: [
    [r`\frac{1}{1500!}`, r`\frac{1}{1502!}`],
    [r`\sqrt{3}`, '1.7320508'],
    [r`\pi`, '22/7'],
    ['10^{-40}', '0'],
    ['1.0000000000000000000000000001', '1'],
    [r`\sqrt{10^{60}+1}`, '10^{30}'],
    ['1000!', '1000!+1'],
    ['√16', '6'],
    [r`\pi*-1`, r`\pi-1`],
    ['5', '5 million'],
    ['1.25', '1,250'],
    // A task that asks for another base is not answered by the number that it gave.
    ['1011_2', '11'],
    ['11:00', '1:00'],
  ],
  expressions: [
    ['(x+1)^2', 'x^2+1'],
    ['x_1', 'x_2'],
    [r`1\pm 2\mp 3`, r`1\pm2\pm3`],
  ],
  'equations and inequalities': [
    ['5x-2y+8=0', '5x+3y+8=0'],
    ['x=3', 'y=3'],
    ['y>2x', '-y>-2x'],
    ['y>=2x', 'y>2x'],
    ['n=3,4,5', 'n=2,3,4'],
    ['x^2=4', 'x=2'],
  ],
  'lists, sets, intervals and matrices': [
    ['1,2,3', '3,2,1', { strict: true }],
    ['1000 and 1331', '1331'],
    ['1,1,2', '1,2,2'],
    ['(2,3)', '(3,2)'],
    ['[0,5)', '(0,5)'],
    ['[2,3)', '2,3'],
    ['(1,2,3)', '(1,2,3]'],
    [r`[0,1)\cup(1,2]`, '[0,2]'],
    [r`1,2,\ldots,n`, r`1,4,\ldots,n^2`],
    [r`\{x : x>2\}`, r`[2,\infty)`],
    [r`\pm 3`, '3'],
  ],
  'words, units and percent': [
    [r`\text{Evelyn}`, 'Eve'],
    ['13.5%', r`14\frac12\%`],
    ['Yes 1.5', 'Yes 1 5'],
    ['12 cm', '12 m'],
    ['12 cm', '12', { units: 'required' }],
    ['50%', '50'],
    ['12:30 pm', '12:30 am'],
  ],
}

/** Neither can be shown, or what is written has several readings or none. */
const undecided: readonly Row[] = [
  // Both hold always, and neither says what the other does.
  ['2>1', '3>1'],
  ['1=1', '2=2'],
  [r`\sin 2x`, r`2\sin x\cos x`],
  [r`\sqrt{10^{160}+1}`, '10^{80}'],
  [r`\ln|x|`, r`\ln x`],
  // Nobody said what f is.
  ['f(x)', 'f(y)', { strict: true }],
  [r`\frac{x^2-1}{x-1}=0`, 'x^2-1=0'],
  // x + 1 may be below zero.
  [r`\frac{1}{x+1}>2`, '1>2x+2'],
  ['(1,3)', 'x>1, x<3', { relationsAsSets: true }],
  ['512', '2^3^2'],
  ['2x+1', '2x1+1'],
  [r`\frac{7}{3}`, r`\frac{7}{3}1`],
  [r`(-\infty,3)\cup(5,\infty)`, r`(\infty,3)\cup(5,\infty)`],
  [r`(-\infty,3)\cup(5,\infty)`, r`(-\infty,3)\cup(5,\infty]`],
  ['5', '5 squared'],
  ['3', '3 halves'],
  ['5', '5 or more'],
  ['12', '3 4'],
  ['1', '0/0'],
  ['1', '9^{9^{9^9}}'],
]

for (const [verdict, tables] of [
  [true, equal],
  [false, different],
  [null, { 'what cannot be shown': undecided }],
] as const) {
  describe(`equal: ${verdict}`, () => {
    for (const [name, rows] of Object.entries<readonly Row[]>(tables)) {
      for (const [gold, answer, policy] of rows) {
        test(`${name}: ${gold} and ${answer}`, () => {
          expect(mathEqual(gold, answer, policy).equal).toBe(verdict)
          expect(mathEqual(answer, gold, policy).equal).toBe(verdict)
          expect(mathEqual(prepareMath(gold), prepareMath(answer), policy).equal).toBe(verdict)
        })
      }
    }
  })
}

test('a declared tolerance is a share of the gold, or a distance', () => {
  expect(mathEqual('0.333', '1/3', { tolerance: { abs: 0.001 } }).equal).toBe(true)
  expect(mathEqual(r`\pi`, '3.14', { tolerance: { abs: 0.01 } }).equal).toBe(true)
  expect(mathEqual(r`\pi`, '3.14', { tolerance: { abs: 0.001 } }).equal).toBe(false)
  expect(mathEqual('1000', '1009', { tolerance: { rel: 0.01 } }).equal).toBe(true)
  expect(mathEqual('1000', '1011', { tolerance: { rel: 0.01 } }).equal).toBe(false)
})

test('the verdict says why, and under which policy', () => {
  const policy: MathPolicy = { percent: 'optional' }
  expect(mathEqual('1', '2', policy)).toEqual({ equal: false, reason: 'different', policy })
  expect(mathEqual('1', ' ').reason).toBe('no_answer')
  expect(mathEqual('', '1').reason).toBe('invalid_gold')
  expect(mathEqual('1', r`\frac{1`).reason).toBe('unreadable_answer')
  expect(mathEqual('1', '9^{9^{9^9}}').reason).toBe('too_large')
})
