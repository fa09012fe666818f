import { type Budget, MathLimit, mostTerms } from './budget.ts'
import {
  addQ,
  floorQ,
  gcd,
  isWhole,
  minusOne,
  mulQ,
  negQ,
  one,
  powQ,
  type Rational,
  rational,
  sameQ,
  zero,
} from './rational.ts'

/**
 * What cannot be worked out further: a variable, a constant, a prime under a root, a function of something. Two atoms are
 * the same thing when their keys are.
 */
export type Atom =
  | { kind: 'symbol'; key: string; name: string }
  | { kind: 'constant'; key: 'pi' | 'e' | 'i' }
  /** A whole number above one that stands under a root; its exponent is between zero and one. */
  | { kind: 'root'; key: string; base: bigint }
  /** A sum that stands under a root, or below another one. */
  | { kind: 'sum'; key: string; value: Poly }
  | { kind: 'function'; key: string; name: string; argument: Value }
  /** A base to an exponent that is no number, such as 2^x: the exponent's own factor is the exponent of the atom. */
  | { kind: 'power'; key: string; base: Value; exponent: Value }

export interface Factor {
  readonly atom: Atom
  readonly exponent: Rational
}

/** A coefficient that is not zero, and its factors by key. */
export interface Term {
  readonly coefficient: Rational
  readonly factors: readonly Factor[]
}

/** A sum of terms, by the key of their factors; empty is zero. */
export type Poly = ReadonlyMap<string, Term>

/** A fraction of sums; the denominator is not zero. Not in lowest terms: two are equal when they are across. */
export interface Value {
  readonly over: Poly
  readonly under: Poly
}

export const nothing: Poly = new Map()
export const unit: Poly = new Map([['', { coefficient: one, factors: [] }]])

export function keyOfFactors(factors: readonly Factor[]): string {
  return factors
    .map(({ atom, exponent }) => `${atom.key}^${exponent.n}${isWhole(exponent) ? '' : `/${exponent.d}`}`)
    .join('*')
}

export function keyOfPoly(poly: Poly): string {
  return [...poly]
    .map(([key, { coefficient }]) => `${coefficient.n}/${coefficient.d}*${key}`)
    .sort()
    .join('+')
}

export function keyOf({ over, under }: Value): string {
  return under === unit ? keyOfPoly(over) : `(${keyOfPoly(over)})/(${keyOfPoly(under)})`
}

export function polyOf(coefficient: Rational, factors: readonly Factor[] = []): Poly {
  return coefficient.n === 0n ? nothing : new Map([[keyOfFactors(factors), { coefficient, factors }]])
}

export function atomPoly(atom: Atom, exponent: Rational = one): Poly {
  return polyOf(one, [{ atom, exponent }])
}

export function addPoly(a: Poly, b: Poly, budget: Budget): Poly {
  if (a.size === 0) return b
  if (b.size === 0) return a
  const sum = new Map(a)
  for (const [key, term] of b) {
    budget.spend()
    const before = sum.get(key)
    const coefficient = before === undefined ? term.coefficient : addQ(before.coefficient, term.coefficient)
    if (coefficient.n === 0n) sum.delete(key)
    else sum.set(key, { coefficient, factors: term.factors })
  }
  if (sum.size > mostTerms) throw new MathLimit('too_large')
  return sum
}

export function scalePoly(poly: Poly, by: Rational): Poly {
  if (by.n === 0n) return nothing
  if (sameQ(by, one)) return poly
  const scaled = new Map<string, Term>()
  for (const [key, { coefficient, factors }] of poly)
    scaled.set(key, { coefficient: mulQ(coefficient, by), factors })
  return scaled
}

export function negPoly(poly: Poly): Poly {
  return scalePoly(poly, minusOne)
}

export function mulPoly(a: Poly, b: Poly, budget: Budget): Poly {
  if (a === unit) return b
  if (b === unit) return a
  if (a.size * b.size > mostTerms * 40) throw new MathLimit('too_large')
  let product: Poly = nothing
  for (const left of a.values()) {
    for (const right of b.values()) {
      budget.spend(4 + left.factors.length + right.factors.length)
      product = addPoly(product, mulTerms(left, right, budget), budget)
    }
  }
  return product
}

/** The factors of two terms together, with what they come to: √2·√2 is 2, i·i is −1, sin² is 1 − cos². */
function mulTerms(a: Term, b: Term, budget: Budget): Poly {
  const coefficient = mulQ(a.coefficient, b.coefficient)
  if (a.factors.length === 0) return polyOf(coefficient, b.factors)
  if (b.factors.length === 0) return polyOf(coefficient, a.factors)
  const merged: Factor[] = []
  let changed = false
  let i = 0
  let j = 0
  while (i < a.factors.length || j < b.factors.length) {
    const left = a.factors[i]
    const right = b.factors[j]
    if (left !== undefined && (right === undefined || left.atom.key < right.atom.key)) {
      merged.push(left)
      i++
    } else if (right !== undefined && (left === undefined || right.atom.key < left.atom.key)) {
      merged.push(right)
      j++
    } else if (left !== undefined && right !== undefined) {
      const exponent = addQ(left.exponent, right.exponent)
      if (exponent.n !== 0n) merged.push({ atom: left.atom, exponent })
      changed ||= needsWork(left.atom, exponent)
      i++
      j++
    }
  }
  return changed ? reduced(coefficient, merged, budget) : polyOf(coefficient, merged)
}

function needsWork(atom: Atom, exponent: Rational): boolean {
  switch (atom.kind) {
    case 'root':
      return exponent.n < 0n || exponent.n >= exponent.d
    case 'sum':
      return exponent.n >= exponent.d
    case 'constant':
      return atom.key === 'i'
    case 'function':
      return atom.name === 'sin' && isWhole(exponent) && exponent.n >= 2n
    default:
      return false
  }
}

/** A term whose factors may stand for numbers and sums, worked out. */
export function reduced(coefficient: Rational, factors: readonly Factor[], budget: Budget): Poly {
  const kept: Factor[] = []
  const sums: Poly[] = []
  let number = coefficient
  for (const factor of factors) {
    const { atom, exponent } = factor
    budget.spend()
    if (exponent.n === 0n) continue
    if (!needsWork(atom, exponent)) {
      kept.push(factor)
      continue
    }
    const wholes = floorQ(exponent)
    const rest = addQ(exponent, rational(-wholes))
    if (atom.kind === 'root') {
      number = mulQ(number, powQ(rational(atom.base), wholes))
      if (rest.n !== 0n) kept.push({ atom, exponent: rest })
    } else if (atom.kind === 'sum') {
      sums.push(powPoly(atom.value, wholes, budget))
      if (rest.n !== 0n) kept.push({ atom, exponent: rest })
    } else if (atom.kind === 'constant') {
      const turns = ((exponent.n % 4n) + 4n) % 4n
      if (isWhole(exponent)) {
        if (turns >= 2n) number = negQ(number)
        if (turns % 2n === 1n) kept.push({ atom, exponent: one })
      } else kept.push(factor)
    } else if (atom.kind === 'function') {
      const cosine: Atom = { ...atom, name: 'cos', key: atom.key.replace('sin', 'cos') }
      const square = addPoly(unit, negPoly(atomPoly(cosine, rational(2n))), budget)
      sums.push(powPoly(square, exponent.n / 2n, budget))
      if (exponent.n % 2n === 1n) kept.push({ atom, exponent: one })
    }
  }
  let product = polyOf(number, kept)
  for (const sum of sums) product = mulPoly(product, sum, budget)
  return product
}

/** A sum to a whole power from zero. */
export function powPoly(poly: Poly, exponent: bigint, budget: Budget): Poly {
  const [only] = poly.values()
  if (poly.size === 1 && only !== undefined) {
    const factors = only.factors.map(({ atom, exponent: by }) => ({
      atom,
      exponent: mulQ(by, rational(exponent)),
    }))
    return reduced(powQ(only.coefficient, exponent), factors, budget)
  }
  if (exponent === 0n) return unit
  if (poly.size === 0) return nothing
  if (exponent > 200n) throw new MathLimit('too_large')
  let result = unit
  let square = poly
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = mulPoly(result, square, budget)
    if (left > 1n) square = mulPoly(square, square, budget)
  }
  return result
}

/** The value of a sum that is a plain number; undefined for any other. */
export function numberOf(poly: Poly): Rational | undefined {
  if (poly.size === 0) return zero
  const only = poly.get('')
  return poly.size === 1 ? only?.coefficient : undefined
}

/** The largest fraction that divides all coefficients, above zero. */
export function contentOf(poly: Poly): Rational {
  let n = 0n
  let d = 1n
  for (const { coefficient } of poly.values()) {
    n = gcd(n, coefficient.n)
    d = (d / gcd(d, coefficient.d)) * coefficient.d
  }
  return rational(n, d)
}
