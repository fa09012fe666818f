import { signOf, Unsure } from './ball.ts'
import type { Budget } from './budget.ts'
import { placeOf, pointOf } from './numeric.ts'
import {
  type Atom,
  addPoly,
  atomPoly,
  contentOf,
  mulPoly,
  negPoly,
  numberOf,
  type Poly,
  polyOf,
  scalePoly,
  unit,
  type Value,
} from './poly.ts'
import { compareQ, invQ, negQ, type Rational, rational, zero } from './rational.ts'

/** True and false are proven; null is neither. */
export type Sameness = boolean | null

/** Places at which two expressions are looked at: one where they differ is a proof. */
const places = 3

/** Whether two values are the same. */
export function sameValues(a: Value, b: Value, budget: Budget): Sameness {
  const left = mulPoly(a.over, b.under, budget)
  const right = mulPoly(b.over, a.under, budget)
  return isZero(addPoly(left, negPoly(right), budget), budget)
}

/** Whether a sum is zero, wherever it has a value. */
export function isZero(poly: Poly, budget: Budget): Sameness {
  if (poly.size === 0) return true
  const number = numberOf(poly)
  if (number !== undefined) return number.n === 0n
  const cleared = withoutNegativeSums(poly, budget)
  if (cleared.size === 0) return true
  return isApart(cleared, budget) ? false : null
}

/** √s in a denominator is s under a numerator: all powers of sums are made to be from zero. */
function withoutNegativeSums(poly: Poly, budget: Budget): Poly {
  const lowest = new Map<string, { atom: Atom; exponent: Rational }>()
  for (const { factors } of poly.values()) {
    for (const { atom, exponent } of factors) {
      if (atom.kind !== 'sum' || exponent.n >= 0n) continue
      const before = lowest.get(atom.key)
      if (before === undefined || compareQ(exponent, before.exponent) < 0)
        lowest.set(atom.key, { atom, exponent })
    }
  }
  let cleared = poly
  for (const { atom, exponent } of lowest.values())
    cleared = mulPoly(cleared, atomPoly(atom, negQ(exponent)), budget)
  return cleared
}

/** Whether a sum is shown not to be zero, by its digits. */
function isApart(poly: Poly, budget: Budget): boolean {
  const whole = primitive(poly)
  for (let round = 0; round < places; round++) {
    budget.spend(1_000)
    try {
      const { re, im } = pointOf(whole, placeOf(round), budget)
      if (signOf(re) !== 0 || signOf(im) !== 0) return true
    } catch (thrown) {
      if (!(thrown instanceof Unsure)) throw thrown
    }
  }
  return false
}

/** A multiple of a sum whose coefficients are whole numbers without a common factor, so that none of them is too small to be seen. */
function primitive(poly: Poly): Poly {
  return scalePoly(poly, invQ(contentOf(poly)))
}

/** -1, 0 or 1 as a is below, equal to or above b; undefined where that is not known, or depends on variables. */
export function compareValues(a: Value, b: Value, budget: Budget): -1 | 0 | 1 | undefined {
  const difference = addPoly(
    mulPoly(a.over, b.under, budget),
    negPoly(mulPoly(b.over, a.under, budget)),
    budget,
  )
  if (difference.size === 0) return 0
  const under = mulPoly(a.under, b.under, budget)
  if (hasSymbols(difference) || hasSymbols(under)) return undefined
  const top = signOfPoly(difference, budget)
  const bottom = signOfPoly(under, budget)
  if (top === undefined || bottom === undefined) return undefined
  return top === bottom ? 1 : -1
}

/** -1 or 1 for a sum without variables whose sign is certain. */
export function signOfPoly(poly: Poly, budget: Budget): -1 | 1 | undefined {
  const number = numberOf(poly)
  if (number !== undefined) return number.n === 0n ? undefined : number.n > 0n ? 1 : -1
  try {
    const { re, im } = pointOf(primitive(poly), placeOf(0), budget)
    if (im.m !== 0n || im.r !== 0n) return undefined
    const sign = signOf(re)
    return sign === 0 ? undefined : sign
  } catch (thrown) {
    if (thrown instanceof Unsure) return undefined
    throw thrown
  }
}

export function hasSymbols(poly: Poly): boolean {
  return [...poly.values()].some(({ factors }) => factors.some(({ atom }) => dependsOnSymbols(atom)))
}

function dependsOnSymbols(atom: Atom): boolean {
  switch (atom.kind) {
    case 'symbol':
      return true
    case 'sum':
      return hasSymbols(atom.value)
    case 'function':
      return hasSymbols(atom.argument.over) || hasSymbols(atom.argument.under)
    case 'power':
      return [atom.base, atom.exponent].some(({ over, under }) => hasSymbols(over) || hasSymbols(under))
    default:
      return false
  }
}

/** Whether two values lie within a tolerance of each other; undefined where they are no real numbers. */
export function within(
  target: Value,
  given: Value,
  { abs, rel }: { abs: Rational | undefined; rel: Rational | undefined },
  budget: Budget,
): boolean | undefined {
  if ([target, given].some(({ over, under }) => hasSymbols(over) || hasSymbols(under))) return undefined
  const near = (by: Value): boolean | undefined => {
    const above = compareValues(given, plus(target, by, budget), budget)
    const below = compareValues(given, plus(target, by, budget, true), budget)
    return above === undefined || below === undefined ? undefined : above <= 0 && below >= 0
  }
  const ofNumber = (number: Rational): Value => ({ over: polyOf(number), under: unit })
  const byAbs = abs === undefined ? false : near(ofNumber(abs))
  if (byAbs === true || rel === undefined) return byAbs
  const sign = compareValues(target, ofNumber(zero), budget)
  if (sign === undefined) return undefined
  const share = rational(rel.n * BigInt(sign === 0 ? 1 : sign), rel.d)
  const size: Value = { over: mulPoly(target.over, polyOf(share), budget), under: target.under }
  return near(size)
}

function plus(a: Value, b: Value, budget: Budget, minus = false): Value {
  const right = mulPoly(b.over, a.under, budget)
  return {
    over: addPoly(mulPoly(a.over, b.under, budget), minus ? negPoly(right) : right, budget),
    under: mulPoly(a.under, b.under, budget),
  }
}

/**
 * Whether a sum is a multiple of another by a number that is not zero, and the number's sign: equations are equal up to
 * such a factor, inequalities up to one above zero.
 */
export function multipleOf(a: Poly, b: Poly, budget: Budget): { same: Sameness; sign?: -1 | 1 } {
  // What holds always or never says nothing of a variable: of two such relations nobody knows whether one is meant by the other.
  if (!hasSymbols(a) && !hasSymbols(b)) return { same: null }
  if (a.size === 0 || b.size === 0) return { same: a.size === b.size }
  const [key] = [...a.keys()].sort(byWeight)
  const left = a.get(key!)!
  const right = b.get(key!)
  if (right === undefined) {
    // A factor with roots or π in it: the terms with variables are compared instead.
    const both = symbolCoefficients(a, b, budget)
    if (both === undefined) return { same: isApartFromMultiple(a, b, budget) }
    const crossed = addPoly(mulPoly(a, both.right, budget), negPoly(mulPoly(b, both.left, budget)), budget)
    const same = isZero(crossed, budget)
    const signs = [signOfPoly(both.left, budget), signOfPoly(both.right, budget)]
    const known = signs[0] !== undefined && signs[1] !== undefined
    return { same, ...(known ? { sign: signs[0] === signs[1] ? 1 : -1 } : {}) }
  }
  const by = rational(left.coefficient.n * right.coefficient.d, left.coefficient.d * right.coefficient.n)
  const scaled = mulPoly(b, polyOf(by), budget)
  const same = isZero(addPoly(a, negPoly(scaled), budget), budget)
  return { same, sign: by.n > 0n ? 1 : -1 }
}

function byWeight(a: string, b: string): number {
  return b.length - a.length || (a < b ? -1 : 1)
}

/** The coefficients of one product of variables in two sums, where both have it. */
function symbolCoefficients(a: Poly, b: Poly, budget: Budget): { left: Poly; right: Poly } | undefined {
  const parts = (poly: Poly) => {
    const found = new Map<string, Poly>()
    for (const { coefficient, factors } of poly.values()) {
      const variable = factors.filter(({ atom }) => dependsOnSymbols(atom))
      const constant = factors.filter(({ atom }) => !dependsOnSymbols(atom))
      const key = variable.map(({ atom, exponent }) => `${atom.key}^${exponent.n}/${exponent.d}`).join('*')
      found.set(key, addPoly(found.get(key) ?? new Map(), polyOf(coefficient, constant), budget))
    }
    return found
  }
  const [left, right] = [parts(a), parts(b)]
  for (const key of [...left.keys()].sort(byWeight)) {
    const [one, other] = [left.get(key), right.get(key)]
    if (one !== undefined && other !== undefined && one.size > 0 && other.size > 0)
      return { left: one, right: other }
  }
  return undefined
}

/** Two sums whose quotient is not the same at two places are no multiples of each other. */
function isApartFromMultiple(a: Poly, b: Poly, budget: Budget): Sameness {
  try {
    const at = (poly: Poly, round: number) => pointOf(primitive(poly), placeOf(round), budget).re
    const crossed = at(a, 0).m * at(b, 1).m - at(a, 1).m * at(b, 0).m
    const scale = (at(a, 0).m * at(b, 1).m) >> 128n
    const size = scale < 0n ? -scale : scale
    return crossed > size || -crossed > size ? false : null
  } catch (thrown) {
    if (thrown instanceof Unsure) return null
    throw thrown
  }
}
