import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mathEqual } from './math-equal.ts'
import type { MathPolicy } from './math-policy.ts'

const small = fc.integer({ min: -60, max: 60 })
const positive = fc.integer({ min: 1, max: 60 })
const policy: fc.Arbitrary<MathPolicy> = fc.record(
  {
    percent: fc.constantFrom('value', 'optional', 'ignore'),
    units: fc.constantFrom('optional', 'required', 'ignore'),
    relationsAsSets: fc.boolean(),
    strict: fc.boolean(),
  },
  { requiredKeys: [] },
)
/** Answers of many kinds, near each other. */
const piece = fc.constantFrom(
  ...'1 2 3 12 0.5 x y \\frac \\sqrt { } ( ) [ ] , ; = < > \\le + - * / ^ _ ! % | : \\pm \\mp \\pi e i \\infty \\cup \\{ \\}'.split(
    ' ',
  ),
  ...[
    '\\text{cm}',
    ' and ',
    ' or ',
    ' ',
    'm',
    ' million',
    '\\ldots',
    '√',
    '°',
    '\\begin{pmatrix}',
    '&',
    '\\\\',
    '\\end{pmatrix}',
  ],
)
const scribble = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(' '))

test('either may be the gold', () => {
  fc.assert(
    fc.property(scribble, scribble, policy, (a, b, under) => {
      fc.pre(a.trim() !== '' && b.trim() !== '')
      expect(mathEqual(a, b, under).equal).toBe(mathEqual(b, a, under).equal)
    }),
    { numRuns: 1_500 },
  )
})

test('anything written equals itself, and no text makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(scribble, fc.string({ unit: 'binary' })), policy, (text, under) => {
      expect(mathEqual(text, text, under).equal).toBe(text.trim() === '' ? null : true)
      mathEqual('1', text, under)
    }),
    { numRuns: 1_500 },
  )
})

test('fractions are compared across, however they are written', () => {
  fc.assert(
    fc.property(small, positive, small, positive, (a, b, c, d) => {
      const isSame = a * d === c * b
      expect(mathEqual(`\\frac{${a}}{${b}}`, `${c}/${d}`).equal).toBe(isSame)
      expect(mathEqual(`(${a}x)/${b}`, `\\frac{${c}}{${d}}x`).equal).toBe(isSame)
    }),
  )
})

test('surds are simplified, and a digit more is another number', () => {
  fc.assert(
    fc.property(positive, positive, positive, (a, b, c) => {
      const [written, simple] = [`\\sqrt{${a * a * b}}+${c}`, `${c}+${a}\\sqrt{${b}}`]
      expect(mathEqual(written, simple).equal).toBe(true)
      expect(mathEqual(`\\frac{${c}}{\\sqrt{${b}}}`, `\\frac{${c}\\sqrt{${b}}}{${b}}`).equal).toBe(true)
      expect(mathEqual(written, `${c + 1}+${a}\\sqrt{${b}}`).equal).toBe(false)
      expect(mathEqual(written, String(c + a * Math.sqrt(b + 0.5))).equal).toBe(false)
    }),
  )
})

test('products are multiplied out, and a changed coefficient is seen', () => {
  fc.assert(
    fc.property(small, small, small, (a, b, c) => {
      const product = `(x+${a})(x-${b})(y+${c})`.replaceAll('+-', '-').replaceAll('--', '+')
      const sum = (last: number) =>
        `x^2y+${c}x^2+(${a - b})xy+(${c * (a - b)})x+(${-a * b})y+(${last})`.replaceAll('+-', '-')
      expect(mathEqual(product, sum(-a * b * c)).equal).toBe(true)
      expect(mathEqual(product, sum(1 - a * b * c)).equal).toBe(false)
    }),
  )
})
