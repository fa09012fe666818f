import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { betaCdf, betaQuantile, logGamma } from './beta.ts'
import { normalCdf, normalQuantile } from './normal.ts'
import { studentTCdf, studentTQuantile } from './student-t.ts'

// Reference values: SciPy 1.17.1 (norm.ppf, t.ppf, t.cdf, betainc, gammaln).
const relative = (actual: number, expected: number) =>
  Math.abs(actual - expected) / Math.max(1e-300, Math.abs(expected))

describe('against SciPy', () => {
  test.each([
    [1e-12, -7.034483825301131],
    [1e-5, -4.264890793922825],
    [0.001, -3.090232306167813],
    [0.02, -2.053748910631823],
    [0.021, -2.0335201492530506],
    [0.2, -0.8416212335729142],
    [0.975, 1.959963984540054],
    [0.9995, 3.2905267314919255],
  ])('normal quantile of %d', (p, expected) => {
    expect(relative(normalQuantile(p), expected)).toBeLessThan(1e-12)
  })

  test.each([
    [0.975, 1, 12.706204736174694],
    [0.975, 2, 4.302652729749462],
    [0.975, 5, 2.5705818356363146],
    [0.975, 29, 2.045229642132703],
    [0.995, 3, 5.840909309733355],
    [0.6, 1.5, 0.30074539256979543],
    [0.975, 499, 1.9647293909876886],
    [0.9999, 4, 13.033671720896821],
    [0.975, 100_000, 1.9599877075346095],
  ])('t quantile of %d with %d degrees of freedom', (p, df, expected) => {
    expect(relative(studentTQuantile(p, df), expected)).toBeLessThan(1e-8)
  })

  test.each([
    [-1e-9, 3, 0.4999999996324474],
    [2.5, 7, 0.9795038907071235],
    [-40, 2, 0.0003122073360923703],
    [0.3, 0.5, 0.5775704239347546],
    [-17.21541489707306, 7864.02205062979, 1.5797107775442188e-65],
  ])('t distribution at %d with %d degrees of freedom', (t, df, expected) => {
    expect(relative(studentTCdf(t, df), expected)).toBeLessThan(1e-11)
  })

  test.each([
    [0.3, 2, 5, 0.5798250000000003],
    [0.5, 0.5, 0.5, 0.5],
    [0.999, 10, 0.3, 0.7236305864295751],
    [0.05, 51, 950, 0.4624709591985727],
    [0.5, 20_000, 20_010, 0.5199365235808222],
  ])('incomplete beta at %d (%d, %d)', (x, a, b, expected) => {
    expect(relative(betaCdf(x, a, b), expected)).toBeLessThan(1e-9)
  })

  test.each([
    [0.1, 2.252712651734206],
    [2.5, 0.2846828704729192],
    [9.99, 12.779315214350195],
    [171, 706.5730622457875],
    [1e5, 1051287.7089736569],
  ])('log gamma of %d', (x, expected) => {
    expect(relative(logGamma(x), expected)).toBeLessThan(1e-12)
  })
})

describe('for all', () => {
  test('quantile and distribution undo each other', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true }),
        fc.double({ min: 0.6, max: 3000, noNaN: true }),
        (p, df) => {
          expect(Math.abs(normalCdf(normalQuantile(p)) - p)).toBeLessThan(1e-11)
          expect(Math.abs(studentTCdf(studentTQuantile(p, df), df) - p)).toBeLessThan(1e-9)
        },
      ),
    )
  })

  test('beta quantile and distribution undo each other', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 5000 }),
        (p, a, b) => {
          expect(Math.abs(betaCdf(betaQuantile(p, a, b), a, b) - p)).toBeLessThan(1e-8)
        },
      ),
    )
  })

  test('the distributions rise and are symmetric', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -30, max: 30, noNaN: true }),
        fc.double({ min: 0, max: 5, noNaN: true }),
        fc.integer({ min: 1, max: 200 }),
        (x, step, df) => {
          expect(normalCdf(x + step)).toBeGreaterThanOrEqual(normalCdf(x) - 1e-15)
          expect(studentTCdf(x + step, df)).toBeGreaterThanOrEqual(studentTCdf(x, df) - 1e-12)
          expect(normalCdf(x) + normalCdf(-x)).toBeCloseTo(1, 13)
          expect(studentTCdf(x, df) + studentTCdf(-x, df)).toBeCloseTo(1, 12)
        },
      ),
    )
  })

  test('what is no probability has no quantile', () => {
    for (const p of [-0.1, 1.1, Number.NaN]) {
      expect(normalQuantile(p)).toBeNaN()
      expect(studentTQuantile(p, 3)).toBeNaN()
      expect(betaQuantile(p, 1, 1)).toBeNaN()
    }
    expect(studentTQuantile(0.9, 0)).toBeNaN()
    expect(normalQuantile(0)).toBe(-Infinity)
    expect(studentTQuantile(1, 2)).toBe(Infinity)
  })
})
