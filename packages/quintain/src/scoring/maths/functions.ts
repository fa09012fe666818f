import type { Budget } from './budget.ts'
import {
  addPoly,
  type Factor,
  keyOf,
  mulPoly,
  type Poly,
  polyOf,
  type Term,
  unit,
  type Value,
} from './poly.ts'
import {
  addQ,
  compareQ,
  floorQ,
  half,
  isWhole,
  minusOne,
  mulQ,
  negQ,
  one,
  type Rational,
  rational,
  zero,
} from './rational.ts'
import {
  add,
  divide,
  eValue,
  functionAtom,
  iValue,
  multiply,
  NoValue,
  negate,
  ofAtom,
  ofNumber,
  ofPoly,
  piValue,
  power,
  primeFactors,
  raise,
  rationalOf,
  subtract,
} from './value.ts'

const number = (n: bigint, d = 1n): Value => ofNumber(rational(n, d))
const root = (n: bigint, budget: Budget): Value => power(number(n), half, budget)

/** A function that is known by name, of its arguments; undefined for a name that is none of them. */
export function applyFunction(name: string, args: readonly Value[], budget: Budget): Value | undefined {
  budget.spend(16)
  const [x] = args
  if (x === undefined) return undefined
  if (args.length > 1) return ofSeveral(name, args, budget)
  switch (name) {
    case 'sqrt':
      return power(x, half, budget)
    case 'cbrt':
      return power(x, rational(1n, 3n), budget)
    case 'exp':
      return exponential(x, budget)
    case 'ln':
      return logarithm(x, budget)
    case 'lg':
      return divide(logarithm(x, budget), logarithm(number(10n), budget), budget)
    case 'abs':
      return absolute(x)
    case 'sin':
      return sine(x, budget)
    case 'cos':
      return cosine(x, budget)
    case 'tan':
      return divide(sine(x, budget), cosine(x, budget), budget)
    case 'cot':
      return divide(cosine(x, budget), sine(x, budget), budget)
    case 'sec':
      return divide(ofNumber(one), cosine(x, budget), budget)
    case 'csc':
      return divide(ofNumber(one), sine(x, budget), budget)
    case 'asin':
      return arcsine(x, budget)
    case 'acos':
      return subtract(multiply(piValue, number(1n, 2n), budget), arcsine(x, budget), budget)
    case 'atan':
      return arctangent(x, budget)
    case 'sinh':
    case 'cosh':
    case 'tanh':
      return hyperbolic(name, x, budget)
    case 'floor':
    case 'ceil':
      return rounded(name, x)
    default:
      return undefined
  }
}

function ofSeveral(name: string, args: readonly Value[], budget: Budget): Value | undefined {
  const numbers = args.map(rationalOf)
  if (numbers.some((one) => one === undefined)) return undefined
  const known = numbers as Rational[]
  if (name === 'max') return ofNumber(known.reduce((a, b) => (compareQ(a, b) >= 0 ? a : b)))
  if (name === 'min') return ofNumber(known.reduce((a, b) => (compareQ(a, b) <= 0 ? a : b)))
  if (name !== 'gcd' && name !== 'lcm') return undefined
  if (!known.every(isWhole)) throw new NoValue('a divisor of what is no whole number')
  return ofNumber(
    known.reduce((a, b) => {
      budget.spend(32)
      let [p, q] = [a.n < 0n ? -a.n : a.n, b.n < 0n ? -b.n : b.n]
      while (q !== 0n) [p, q] = [q, p % q]
      return name === 'gcd' ? rational(p) : rational(p === 0n ? 0n : (a.n / p) * b.n)
    }),
  )
}

function rounded(name: 'floor' | 'ceil', x: Value): Value | undefined {
  const known = rationalOf(x)
  if (known === undefined) return undefined
  return number(name === 'floor' ? floorQ(known) : -floorQ(negQ(known)))
}

/** e to a value; what turns round the circle is worked out. */
export function exponential(x: Value, budget: Budget): Value {
  if (x.under === unit) {
    const turning = [...x.over.values()].filter(({ factors }) =>
      factors.some(({ atom }) => atom.kind === 'constant' && atom.key === 'i'),
    )
    if (turning.length > 0) {
      let angle: Poly = new Map()
      for (const term of turning)
        angle = addPoly(
          angle,
          polyOf(
            term.coefficient,
            term.factors.filter(({ atom }) => atom.key !== 'i'),
          ),
          budget,
        )
      const plain = subtract(x, multiply(ofPoly(angle), iValue, budget), budget)
      const turn = add(
        cosine(ofPoly(angle), budget),
        multiply(iValue, sine(ofPoly(angle), budget), budget),
        budget,
      )
      return multiply(raise(eValue, plain, budget), turn, budget)
    }
  }
  return raise(eValue, x, budget)
}

export function logarithm(x: Value, budget: Budget): Value {
  const { over, under } = x
  if (over.size === 0) throw new NoValue('a logarithm of zero')
  const [only] = over.values()
  if (over.size > 1 || only === undefined) {
    if (under === unit) return ofAtom(functionAtom('ln', x))
    return subtract(logarithm(ofPoly(over), budget), logarithm(ofPoly(under), budget), budget)
  }
  if (only.coefficient.n < 0n) throw new NoValue('a logarithm of what is below zero')
  let sum = logarithmOfTerm(only, budget)
  if (under !== unit) sum = subtract(sum, logarithm(ofPoly(under), budget), budget)
  return sum
}

function logarithmOfTerm({ coefficient, factors }: Term, budget: Budget): Value {
  let sum: Value = ofNumber(zero)
  for (const [part, sign] of [
    [coefficient.n, one],
    [coefficient.d, minusOne],
  ] as const) {
    for (const [prime, times] of primeFactors(part, budget)) {
      const atom = ofAtom(functionAtom('ln', number(prime)))
      sum = add(sum, multiply(atom, ofNumber(mulQ(sign, rational(times))), budget), budget)
    }
  }
  for (const factor of factors) {
    const by = ofNumber(factor.exponent)
    sum = add(sum, multiply(logarithmOfFactor(factor, budget), by, budget), budget)
  }
  return sum
}

function logarithmOfFactor({ atom }: Factor, budget: Budget): Value {
  if (atom.kind === 'constant' && atom.key === 'e') return ofNumber(one)
  if (atom.kind === 'root') return logarithm(number(atom.base), budget)
  if (atom.kind === 'power') return multiply(atom.exponent, logarithm(atom.base, budget), budget)
  return ofAtom(functionAtom('ln', ofAtom(atom)))
}

function absolute(x: Value): Value {
  const known = rationalOf(x)
  if (known !== undefined) return known.n < 0n ? negate(x) : x
  const [only] = x.over.values()
  const positive = ({ atom }: Factor) =>
    atom.kind === 'root' || (atom.kind === 'constant' && atom.key !== 'i')
  if (x.under === unit && x.over.size === 1 && only?.factors.every(positive) === true)
    return only.coefficient.n < 0n ? negate(x) : x
  return ofAtom(functionAtom('abs', firstIsPositive(x) ? x : negate(x)))
}

/** Whether the first term, by key, has a coefficient above zero: of x and −x exactly one has. */
function firstIsPositive({ over }: Value): boolean {
  const first = [...over.keys()].sort()[0]
  return first === undefined || over.get(first)!.coefficient.n > 0n
}

/** Share of π that an angle is; undefined for one that is no fraction of it. */
function shareOfPi({ over, under }: Value): Rational | undefined {
  if (over.size === 0) return zero
  const [only] = over.values()
  const [factor] = only?.factors ?? []
  const isPi =
    under === unit &&
    over.size === 1 &&
    only?.factors.length === 1 &&
    factor?.atom.key === 'pi' &&
    isWhole(factor.exponent) &&
    factor.exponent.n === 1n
  return isPi ? only?.coefficient : undefined
}

function sine(x: Value, budget: Budget): Value {
  const share = shareOfPi(x)
  if (share !== undefined) {
    const known = sineOfShare(share, budget)
    if (known !== undefined) return known
  }
  if (!firstIsPositive(x)) return negate(ofAtom(functionAtom('sin', negate(x))))
  return ofAtom(functionAtom('sin', x))
}

function cosine(x: Value, budget: Budget): Value {
  const share = shareOfPi(x)
  if (share !== undefined) {
    const known = sineOfShare(addQ(share, half), budget)
    if (known !== undefined) return known
  }
  return ofAtom(functionAtom('cos', firstIsPositive(x) ? x : negate(x)))
}

/** sin(share · π) where it is made of square roots that schools know. */
function sineOfShare(share: Rational, budget: Budget): Value | undefined {
  const two = rational(2n)
  const turned = addQ(share, negQ(mulQ(two, rational(floorQ(mulQ(share, half))))))
  const below = compareQ(turned, one) >= 0
  const upper = below ? addQ(turned, minusOne) : turned
  const angle = compareQ(upper, half) > 0 ? addQ(one, negQ(upper)) : upper
  const value = firstQuarter(angle, budget)
  return value === undefined ? undefined : below ? negate(value) : value
}

function firstQuarter({ n, d }: Rational, budget: Budget): Value | undefined {
  const of = (top: Value, under: bigint) => divide(top, number(under), budget)
  const degrees = (n * 180n) / d
  if ((n * 180n) % d !== 0n) return undefined
  const nested = (sign: bigint) =>
    of(
      power(add(number(10n), multiply(number(2n * sign), root(5n, budget), budget), budget), half, budget),
      4n,
    )
  switch (degrees) {
    case 0n:
      return number(0n)
    case 15n:
      return of(subtract(root(6n, budget), root(2n, budget), budget), 4n)
    case 18n:
      return of(subtract(root(5n, budget), number(1n), budget), 4n)
    case 30n:
      return number(1n, 2n)
    case 36n:
      return nested(-1n)
    case 45n:
      return of(root(2n, budget), 2n)
    case 54n:
      return of(add(root(5n, budget), number(1n), budget), 4n)
    case 60n:
      return of(root(3n, budget), 2n)
    case 72n:
      return nested(1n)
    case 75n:
      return of(add(root(6n, budget), root(2n, budget), budget), 4n)
    case 90n:
      return number(1n)
    default:
      return undefined
  }
}

const knownDegrees = [0n, 15n, 18n, 30n, 36n, 45n, 54n, 60n, 72n, 75n, 90n]

function arcsine(x: Value, budget: Budget): Value {
  for (const degrees of knownDegrees) {
    const value = firstQuarter(rational(degrees, 180n), budget)
    if (value === undefined) continue
    const angle = multiply(piValue, number(degrees, 180n), budget)
    if (keyOf(value) === keyOf(x)) return angle
    if (keyOf(negate(value)) === keyOf(x)) return negate(angle)
  }
  if (!firstIsPositive(x)) return negate(ofAtom(functionAtom('asin', negate(x))))
  return ofAtom(functionAtom('asin', x))
}

function arctangent(x: Value, budget: Budget): Value {
  for (const degrees of [0n, 15n, 30n, 45n, 60n, 75n]) {
    const angle = multiply(piValue, number(degrees, 180n), budget)
    const tangent = divide(sine(angle, budget), cosine(angle, budget), budget)
    const same = (a: Value, b: Value) =>
      keyOf(ofPoly(mulPoly(a.over, b.under, budget))) === keyOf(ofPoly(mulPoly(b.over, a.under, budget)))
    if (same(tangent, x)) return angle
    if (same(negate(tangent), x)) return negate(angle)
  }
  if (!firstIsPositive(x)) return negate(ofAtom(functionAtom('atan', negate(x))))
  return ofAtom(functionAtom('atan', x))
}

function hyperbolic(name: 'sinh' | 'cosh' | 'tanh', x: Value, budget: Budget): Value {
  const up = raise(eValue, x, budget)
  const down = raise(eValue, negate(x), budget)
  const sinh = divide(subtract(up, down, budget), number(2n), budget)
  const cosh = divide(add(up, down, budget), number(2n), budget)
  return name === 'sinh' ? sinh : name === 'cosh' ? cosh : divide(sinh, cosh, budget)
}
