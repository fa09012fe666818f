import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluateScoreFormula, type Formula, parseFormula } from '../../scoring/index.ts'
import { rangeOfFormula } from './formula-range.ts'

const unit = { a: [0, 1], b: [0, 1] } as const

function rangeOf(text: string) {
  const reading = parseFormula(text)
  if (!reading.ok) throw new Error(reading.message)
  return rangeOfFormula(reading.formula, unit)
}

test.each([
  ['0.7 * a + 0.3 * b', [0, 1]],
  ['a - b', [-1, 1]],
  ['2 * a', [0, 2]],
  ['min(a, b) * max(a, 0.5)', [0, 1]],
  ['(a - 0.5) ^ 2', [0, 0.25]],
  ['floor(a + b / 2)', [0, 1]],
  ['abs(a - b)', [0, 1]],
  ['-a', [-1, -0]],
] as const)('%s lies in %j', (text, [low, high]) => {
  const [least, most] = rangeOf(text)
  expect(least).toBeCloseTo(low)
  expect(most).toBeCloseTo(high)
})

test('a divisor that can be zero makes anything possible', () => {
  expect(rangeOf('a / b')).toEqual([-Infinity, Infinity])
})

const names = fc.constantFrom('a', 'b')
const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
  formula: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('number' as const), value: fc.double({ min: 0, max: 4, noNaN: true }) }),
    names.map((name): Formula => ({ kind: 'name', name, at: 0 })),
    fc.record({ kind: fc.constant('minus' as const), item: tie('formula') }),
    fc.record({
      kind: fc.constant('operation' as const),
      sign: fc.constantFrom('+' as const, '-' as const, '*' as const, '/' as const, '^' as const),
      left: tie('formula'),
      right: tie('formula'),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      name: fc.constantFrom('min' as const, 'max' as const),
      args: fc.array(tie('formula'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      name: fc.constantFrom(
        'abs' as const,
        'floor' as const,
        'ceil' as const,
        'exp' as const,
        'sqrt' as const,
        'log' as const,
      ),
      args: fc.tuple(tie('formula')).map((args): Formula[] => args),
    }),
  ),
}))

test('no value of a formula lies outside of its range', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(formula, score, score, (given, a, b) => {
      const found = evaluateScoreFormula(given, { a, b })
      fc.pre(found.ok)
      const [low, high] = rangeOfFormula(given, unit)
      const slack = 1e-9 * (1 + Math.abs(found.value))
      expect(found.value).toBeGreaterThanOrEqual(low - slack)
      expect(found.value).toBeLessThanOrEqual(high + slack)
    }),
  )
})
