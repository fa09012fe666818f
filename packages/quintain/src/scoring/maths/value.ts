import { type Budget, MathLimit } from './budget.ts'
import {
  type Atom,
  addPoly,
  atomPoly,
  contentOf,
  keyOf,
  mulPoly,
  negPoly,
  nothing,
  numberOf,
  type Poly,
  polyOf,
  powPoly,
  reduced,
  type Term,
  unit,
  type Value,
} from './poly.ts'
import {
  addQ,
  exactRoot,
  floorQ,
  invQ,
  isWhole,
  minusOne,
  mulQ,
  negQ,
  one,
  type Rational,
  rational,
  zero,
} from './rational.ts'

/** Thrown inside where an expression has no value: a division by zero, a logarithm of nothing. */
export class NoValue extends Error {
  override readonly name = 'NoValue'
}

export function ofPoly(over: Poly): Value {
  return { over, under: unit }
}

export function ofNumber(number: Rational): Value {
  return ofPoly(polyOf(number))
}

export function ofAtom(atom: Atom): Value {
  return ofPoly(atomPoly(atom))
}

export function symbol(name: string): Value {
  return ofAtom({ kind: 'symbol', key: `s:${name}`, name })
}

export const piValue = ofAtom({ kind: 'constant', key: 'pi' })
export const eValue = ofAtom({ kind: 'constant', key: 'e' })
export const iValue = ofAtom({ kind: 'constant', key: 'i' })

export function rationalOf({ over, under }: Value): Rational | undefined {
  return under === unit ? numberOf(over) : undefined
}

export function add(a: Value, b: Value, budget: Budget): Value {
  if (a.under === unit && b.under === unit) return ofPoly(addPoly(a.over, b.over, budget))
  const over = addPoly(mulPoly(a.over, b.under, budget), mulPoly(b.over, a.under, budget), budget)
  return fraction(over, mulPoly(a.under, b.under, budget), budget)
}

export function negate({ over, under }: Value): Value {
  return { over: negPoly(over), under }
}

export function subtract(a: Value, b: Value, budget: Budget): Value {
  return add(a, negate(b), budget)
}

export function multiply(a: Value, b: Value, budget: Budget): Value {
  return fraction(mulPoly(a.over, b.over, budget), mulPoly(a.under, b.under, budget), budget)
}

export function divide(a: Value, b: Value, budget: Budget): Value {
  return fraction(mulPoly(a.over, b.under, budget), mulPoly(a.under, b.over, budget), budget)
}

/** A fraction whose denominator, where it is one term, is worked into the numerator. */
function fraction(over: Poly, under: Poly, budget: Budget): Value {
  if (under === unit) return ofPoly(over)
  if (under.size === 0) throw new NoValue('division by zero')
  const [only] = under.values()
  if (under.size > 1 || only === undefined) return over.size === 0 ? ofPoly(nothing) : { over, under }
  return ofPoly(mulPoly(over, inverseTerm(only, budget), budget))
}

function inverseTerm({ coefficient, factors }: Term, budget: Budget): Poly {
  const inverted = factors.map(({ atom, exponent }) => ({ atom, exponent: negQ(exponent) }))
  return reduced(invQ(coefficient), inverted, budget)
}

/** A value to a fraction: exact where it can be worked out, else an atom of its own. */
export function power(base: Value, exponent: Rational, budget: Budget): Value {
  budget.spend(8)
  if (exponent.n === 0n) {
    if (base.over.size === 0) throw new NoValue('zero to the power of zero')
    return ofNumber(one)
  }
  if (base.over.size === 0) {
    if (exponent.n < 0n) throw new NoValue('division by zero')
    return base
  }
  if (exponent.n < 0n) return divide(ofNumber(one), power(base, negQ(exponent), budget), budget)
  if (isWhole(exponent)) {
    const { over, under } = base
    const raised = powPoly(over, exponent.n, budget)
    return under === unit ? ofPoly(raised) : fraction(raised, powPoly(under, exponent.n, budget), budget)
  }
  const over = rootOfPoly(base.over, exponent, budget)
  if (base.under === unit) return ofPoly(over)
  return fraction(over, rootOfPoly(base.under, exponent, budget), budget)
}

/** A sum to a power that is no whole number, above zero. */
function rootOfPoly(poly: Poly, exponent: Rational, budget: Budget): Poly {
  const [only] = poly.values()
  if (poly.size === 1 && only !== undefined) return rootOfTerm(only, exponent, budget)
  const content = contentOf(poly)
  const inner = mulPoly(poly, polyOf(invQ(content)), budget)
  const outer = rootOfNumber(content, exponent, budget)
  const wholes = floorQ(exponent)
  const rest = addQ(exponent, rational(-wholes))
  const plain = isHalf(rest) ? (denested(inner, budget) ?? sumAtom(inner, rest)) : sumAtom(inner, rest)
  return mulPoly(mulPoly(outer, powPoly(inner, wholes, budget), budget), plain, budget)
}

function isHalf({ n, d }: Rational): boolean {
  return n === 1n && d === 2n
}

function sumAtom(value: Poly, exponent: Rational): Poly {
  return atomPoly({ kind: 'sum', key: `r:(${keyOf(ofPoly(value))})`, value }, exponent)
}

/** √(a + b√c) as a sum of two roots, where a² − b²c is a square. */
function denested(poly: Poly, budget: Budget): Poly | undefined {
  const a = poly.get('')?.coefficient
  if (poly.size !== 2 || a === undefined) return undefined
  const surd = [...poly.values()].find(({ factors }) => factors.length > 0)
  if (surd?.factors.some(({ atom, exponent }) => atom.kind !== 'root' || !isHalf(exponent)) !== false)
    return undefined
  const c = surd.factors.reduce((product, { atom }) => product * (atom.kind === 'root' ? atom.base : 1n), 1n)
  const inside = addQ(mulQ(a, a), negQ(mulQ(mulQ(surd.coefficient, surd.coefficient), rational(c))))
  if (a.n <= 0n || inside.n < 0n) return undefined
  const over = exactRoot(inside.n, 2n)
  const under = exactRoot(inside.d, 2n)
  if (over === undefined || under === undefined) return undefined
  const root = rational(over, under)
  const two = rational(2n)
  const first = rootOfNumber(mulQ(addQ(a, root), invQ(two)), invQ(two), budget)
  const second = rootOfNumber(mulQ(addQ(a, negQ(root)), invQ(two)), invQ(two), budget)
  return addPoly(first, surd.coefficient.n < 0n ? negPoly(second) : second, budget)
}

function rootOfTerm({ coefficient, factors }: Term, exponent: Rational, budget: Budget): Poly {
  const raised = factors.map(({ atom, exponent: by }) => {
    const product = mulQ(by, exponent)
    // √(x²) is |x|: what was even and is no longer so has lost its sign.
    const even = isWhole(by) && by.n % 2n === 0n
    const stillEven = isWhole(product) && product.n % 2n === 0n
    const signless = even && !stillEven && exponent.d % 2n === 0n && mayBeNegative(atom)
    return { atom: signless ? absolute(atom) : atom, exponent: product }
  })
  const sorted = raised.sort((a, b) => (a.atom.key < b.atom.key ? -1 : 1))
  return mulPoly(rootOfNumber(coefficient, exponent, budget), reduced(one, sorted, budget), budget)
}

function mayBeNegative(atom: Atom): boolean {
  return atom.kind === 'symbol' || atom.kind === 'function' || atom.kind === 'sum'
}

function absolute(atom: Atom): Atom {
  if (atom.kind === 'function' && atom.name === 'abs') return atom
  return functionAtom('abs', ofAtom(atom))
}

export function functionAtom(name: string, argument: Value): Atom {
  return { kind: 'function', key: `f:${name}(${keyOf(argument)})`, name, argument }
}

/** A function that nothing is known of, of a value. */
export function functionValue(name: string, argument: Value): Value {
  return ofAtom(functionAtom(name, argument))
}

/** A fraction to a power above zero that is no whole number. Odd roots of what is below zero are real, as in schools. */
function rootOfNumber(number: Rational, exponent: Rational, budget: Budget): Poly {
  if (number.n < 0n) {
    const positive = rootOfNumber(negQ(number), exponent, budget)
    if (exponent.d % 2n === 1n) return exponent.n % 2n === 0n ? positive : negPoly(positive)
    if (exponent.d !== 2n) throw new NoValue('an even root of what is below zero')
    const turns = exponent.n % 4n
    const i = atomPoly({ kind: 'constant', key: 'i' })
    return mulPoly(positive, turns === 3n ? negPoly(i) : i, budget)
  }
  const over = rootOfWhole(number.n, exponent, budget)
  return number.d === 1n ? over : mulPoly(over, rootOfWhole(number.d, negQ(exponent), budget), budget)
}

/** A whole number above zero to a fraction, as a product of primes under roots. */
function rootOfWhole(number: bigint, exponent: Rational, budget: Budget): Poly {
  const factors = primeFactors(number, budget).map(([base, times]) => ({
    atom: { kind: 'root', key: `n:${base}`, base } as const,
    exponent: mulQ(exponent, rational(times)),
  }))
  factors.sort((a, b) => (a.atom.key < b.atom.key ? -1 : 1))
  return reduced(one, factors, budget)
}

const smallest = 100_000n

/**
 * Prime factors with their multiplicities. What has no factor below 100,000 stays whole, unless it is a power: then two
 * numbers with a large common factor may stay apart, which is undecided and never equal.
 */
export function primeFactors(number: bigint, budget: Budget): [base: bigint, times: bigint][] {
  const found: [bigint, bigint][] = []
  let left = number
  for (let prime = 2n; prime <= smallest && prime * prime <= left; prime += prime === 2n ? 1n : 2n) {
    if (prime % 64n === 1n) budget.spend()
    if (left % prime !== 0n) continue
    let times = 0n
    while (left % prime === 0n) {
      budget.spend()
      left /= prime
      times++
    }
    found.push([prime, times])
  }
  if (left === 1n) return found
  for (let k = 2n; k <= 16n; k++) {
    const root = exactRoot(left, k)
    if (root === undefined) continue
    return [
      ...found,
      ...primeFactors(root, budget).map(([base, times]): [bigint, bigint] => [base, times * k]),
    ]
  }
  return [...found, [left, 1n]]
}

/** A value to the power of a value. */
export function raise(base: Value, exponent: Value, budget: Budget): Value {
  const number = rationalOf(exponent)
  if (number !== undefined) return power(base, number, budget)
  if (exponent.under !== unit) return ofAtom(powerAtom(base, exponent))
  // b^(2x + 1) is b·(b^x)²: terms of an exponent are factors.
  let product: Value = ofNumber(one)
  for (const { coefficient, factors } of exponent.over.values()) {
    const part =
      factors.length === 0
        ? power(base, coefficient, budget)
        : raiseTo(base, ofPoly(polyOf(one, factors)), coefficient, budget)
    product = multiply(product, part, budget)
  }
  return product
}

function raiseTo(base: Value, exponent: Value, times: Rational, budget: Budget): Value {
  const number = rationalOf(base)
  if (number === undefined || number.n <= 0n) return ofPoly(atomPoly(powerAtom(base, exponent), times))
  if (number.n === number.d) return ofNumber(one)
  // 4^x is (2^x)².
  let product: Value = ofNumber(one)
  for (const [part, sign] of [
    [number.n, one],
    [number.d, minusOne],
  ] as const) {
    for (const [prime, multiplicity] of primeFactors(part, budget)) {
      const by = mulQ(mulQ(times, sign), rational(multiplicity))
      product = multiply(
        product,
        ofPoly(atomPoly(powerAtom(ofNumber(rational(prime)), exponent), by)),
        budget,
      )
    }
  }
  return product
}

function powerAtom(base: Value, exponent: Value): Atom {
  return { kind: 'power', key: `p:(${keyOf(base)})^(${keyOf(exponent)})`, base, exponent }
}

/** n! for a whole number from zero. */
export function factorial(number: Rational, budget: Budget): Value {
  if (!isWhole(number) || number.n < 0n) throw new NoValue('a factorial of what is no whole number from zero')
  if (number.n > 3_000n) throw new MathLimit('too_large')
  let product = 1n
  for (let i = 2n; i <= number.n; i++) {
    budget.spend(4)
    product *= i
  }
  return ofNumber(rational(product))
}

/** How many ways there are to choose k of n. */
export function binomial(n: Rational, k: Rational, budget: Budget): Value {
  if (!isWhole(n) || !isWhole(k) || n.n < 0n) throw new NoValue('a choice of what is no whole number')
  if (k.n < 0n || k.n > n.n) return ofNumber(zero)
  const few = k.n * 2n > n.n ? n.n - k.n : k.n
  if (few > 3_000n) throw new MathLimit('too_large')
  let product = one
  for (let i = 1n; i <= few; i++) {
    budget.spend(4)
    product = mulQ(product, rational(n.n - few + i, i))
  }
  return ofNumber(product)
}
