import {
  addBall,
  atanBall,
  type Ball,
  ballOf,
  circularBalls,
  expBall,
  invBall,
  lnBall,
  mulBall,
  negBall,
  oneBall,
  piBall,
  powBall,
  signOf,
  sqrtBall,
  Unsure,
  zeroBall,
} from './ball.ts'
import type { Budget } from './budget.ts'
import type { Atom, Poly, Value } from './poly.ts'
import { isWhole, one, type Rational, rational } from './rational.ts'

/** A complex number by its parts. */
export interface Point {
  readonly re: Ball
  readonly im: Ball
}

const real = (re: Ball): Point => ({ re, im: zeroBall })
const isReal = ({ im }: Point): boolean => im.m === 0n && im.r === 0n

/** Where variables stand: any numbers above zero will do, as long as they are the same on both sides. */
export type Place = (name: string) => Rational

function multiplied(a: Point, b: Point): Point {
  if (isReal(a) && isReal(b)) return real(mulBall(a.re, b.re))
  return {
    re: addBall(mulBall(a.re, b.re), negBall(mulBall(a.im, b.im))),
    im: addBall(mulBall(a.re, b.im), mulBall(a.im, b.re)),
  }
}

function inverted({ re, im }: Point): Point {
  if (im.m === 0n && im.r === 0n) return real(invBall(re))
  const size = invBall(addBall(mulBall(re, re), mulBall(im, im)))
  return { re: mulBall(re, size), im: negBall(mulBall(im, size)) }
}

/** The number that a sum is at a place. Throws `Unsure` where that cannot be told. */
export function pointOf(poly: Poly, place: Place, budget: Budget): Point {
  let sum: Point = real(zeroBall)
  for (const { coefficient, factors } of poly.values()) {
    let product = real(ballOf(coefficient))
    for (const { atom, exponent } of factors) {
      budget.spend(200)
      product = multiplied(product, raised(atomPoint(atom, place, budget), exponent))
    }
    sum = { re: addBall(sum.re, product.re), im: addBall(sum.im, product.im) }
  }
  return sum
}

export function valuePoint({ over, under }: Value, place: Place, budget: Budget): Point {
  const top = pointOf(over, place, budget)
  return multiplied(top, inverted(pointOf(under, place, budget)))
}

function raised(base: Point, exponent: Rational): Point {
  if (exponent.n === one.n && exponent.d === one.d) return base
  if (isWhole(exponent)) {
    if (exponent.n < 0n) return raised(inverted(base), rational(-exponent.n))
    if (isReal(base) && signOf(base.re) === 1) return real(powBall(base.re, exponent))
    if (exponent.n > 256n) throw new Unsure('a high power')
    let product: Point = real(oneBall)
    for (let i = 0n; i < exponent.n; i++) product = multiplied(product, base)
    return product
  }
  if (!isReal(base)) throw new Unsure('a root of a complex number')
  const sign = signOf(base.re)
  if (sign === 1) return real(powBall(base.re, exponent))
  if (sign === 0) throw new Unsure('a root of what may be zero')
  const size = powBall(negBall(base.re), exponent)
  if (exponent.d % 2n === 1n) return real(exponent.n % 2n === 0n ? size : negBall(size))
  if (exponent.d !== 2n) throw new Unsure('an even root of what is below zero')
  const turns = ((exponent.n % 4n) + 4n) % 4n
  return { re: zeroBall, im: turns === 1n ? size : negBall(size) }
}

function atomPoint(atom: Atom, place: Place, budget: Budget): Point {
  switch (atom.kind) {
    case 'symbol':
      return real(ballOf(place(atom.name)))
    case 'root':
      return real(ballOf(rational(atom.base)))
    case 'sum':
      return pointOf(atom.value, place, budget)
    case 'constant':
      if (atom.key === 'pi') return real(piBall())
      if (atom.key === 'e') return real(expBall(oneBall))
      return { re: zeroBall, im: oneBall }
    case 'power': {
      const base = realPoint(valuePoint(atom.base, place, budget))
      const exponent = realPoint(valuePoint(atom.exponent, place, budget))
      return real(expBall(mulBall(lnBall(base), exponent)))
    }
    case 'function':
      return real(functionBall(atom.name, atom.argument, place, budget))
  }
}

function realPoint(point: Point): Ball {
  if (!isReal(point)) throw new Unsure('a function of a complex number')
  return point.re
}

function functionBall(name: string, argument: Value, place: Place, budget: Budget): Ball {
  budget.spend(2_000)
  const point = valuePoint(argument, place, budget)
  if (name === 'abs') {
    if (isReal(point)) return point.re.m < 0n ? negBall(point.re) : point.re
    return sqrtBall(addBall(mulBall(point.re, point.re), mulBall(point.im, point.im)))
  }
  const x = realPoint(point)
  switch (name) {
    case 'ln':
      return lnBall(x)
    case 'sin':
      return circularBalls(x).sin
    case 'cos':
      return circularBalls(x).cos
    case 'atan':
      return atanBall(x)
    case 'asin':
      return atanBall(mulBall(x, invBall(sqrtBall(addBall(oneBall, negBall(mulBall(x, x)))))))
    default:
      throw new Unsure(`a function that is not known: ${name}`)
  }
}

/** Places of variables that depend on their names alone. */
export function placeOf(round: number): Place {
  return (name) => {
    let hash = 2166136261 ^ (round * 7919)
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619)
    return rational(BigInt((hash >>> 0) % 9973) + 1009n, 2003n + BigInt(round))
  }
}
