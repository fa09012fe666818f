import { MathLimit, mostBits } from './budget.ts'

/** A fraction in lowest terms; `d` is above zero. */
export interface Rational {
  readonly n: bigint
  readonly d: bigint
}

export const zero: Rational = { n: 0n, d: 1n }
export const one: Rational = { n: 1n, d: 1n }
export const minusOne: Rational = { n: -1n, d: 1n }
export const half: Rational = { n: 1n, d: 2n }

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  // Doubles divide faster while both are small.
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}

const largest = 1n << BigInt(mostBits)

/** The fraction n / d, `d` not zero. */
export function rational(n: bigint, d = 1n): Rational {
  if (n > largest || n < -largest || d > largest || d < -largest) throw new MathLimit('too_large')
  if (d === 1n) return { n, d }
  const common = gcd(n, d) * (d < 0n ? -1n : 1n)
  return common === 1n ? { n, d } : { n: n / common, d: d / common }
}

export function whole(n: number | bigint): Rational {
  return { n: BigInt(n), d: 1n }
}

export function addQ(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return { n: a.n + b.n, d: 1n }
  return rational(a.n * b.d + b.n * a.d, a.d * b.d)
}

export function mulQ(a: Rational, b: Rational): Rational {
  return rational(a.n * b.n, a.d * b.d)
}

export function negQ({ n, d }: Rational): Rational {
  return { n: -n, d }
}

/** One over a fraction that is not zero. */
export function invQ({ n, d }: Rational): Rational {
  return n < 0n ? { n: -d, d: -n } : { n: d, d: n }
}

export function sameQ(a: Rational, b: Rational): boolean {
  return a.n === b.n && a.d === b.d
}

/** Below zero, zero or above zero, as a is less than, equal to or more than b. */
export function compareQ(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export function isWhole({ d }: Rational): boolean {
  return d === 1n
}

/** The largest whole number that is not above a fraction. */
export function floorQ({ n, d }: Rational): bigint {
  return n >= 0n ? n / d : -((-n + d - 1n) / d)
}

export function bitLength(n: bigint): number {
  const magnitude = n < 0n ? -n : n
  return magnitude === 0n ? 0 : magnitude.toString(16).length * 4
}

/** A fraction to a whole power; `base` is not zero where `exponent` is below zero. */
export function powQ(base: Rational, exponent: bigint): Rational {
  if (exponent < 0n) return powQ(invQ(base), -exponent)
  if (exponent === 0n || sameQ(base, one)) return one
  if (sameQ(base, minusOne)) return exponent % 2n === 0n ? one : minusOne
  if (base.n === 0n) return zero
  const bits = BigInt(bitLength(base.n) + bitLength(base.d))
  if (bits * exponent > BigInt(mostBits) * 2n) throw new MathLimit('too_large')
  return { n: base.n ** exponent, d: base.d ** exponent }
}

/** The whole k-th root of a whole number from zero; undefined where there is none. */
export function exactRoot(n: bigint, k: bigint): bigint | undefined {
  if (n < 2n) return n
  if (k === 1n) return n
  const bits = BigInt(bitLength(n))
  if (k > bits) return undefined
  let guess = 1n << (bits / k + 1n)
  // Newton's steps from above fall until they stand on the root or below it.
  for (;;) {
    const next = ((k - 1n) * guess + n / guess ** (k - 1n)) / k
    if (next >= guess) break
    guess = next
  }
  return guess ** k === n ? guess : undefined
}
