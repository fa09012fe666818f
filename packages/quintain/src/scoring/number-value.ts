/** An exact number: a fraction of whole numbers, `den` above zero. Not necessarily in lowest terms. */
export interface NumberValue {
  readonly num: bigint
  readonly den: bigint
}

/** How far two numbers may lie apart and still be equal. Without it they must be the same number. */
export interface Tolerance {
  /** At most so much apart. */
  abs?: number
  /** At most this share of the target apart. */
  rel?: number
}

/** Longer numbers are no answers, and cost more to compare than they are worth. */
const mostDigits = 10_000
const mostExponent = 1_000

/**
 * The value of a plain decimal such as `-12.50`, `.5` or `1e-3`: digits alone, no grouping. Undefined for anything
 * else, and for numbers of more than 10,000 digits or exponents beyond 1,000.
 */
export function decimalValue(text: string): NumberValue | undefined {
  if (text.length > mostDigits) return undefined
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/.exec(text)
  if (parts === null) return undefined
  const [, sign, whole = '', decimals = '', exponent = '0'] = parts
  if (whole === '' && decimals === '') return undefined
  const shift = Number(exponent)
  if (Math.abs(shift) > mostExponent) return undefined
  const digits = BigInt(whole + decimals)
  const scaled = scale({ num: sign === '-' ? -digits : digits, den: 10n ** BigInt(decimals.length) }, shift)
  return scaled
}

/** Times ten to the power of `shift`. */
export function scale({ num, den }: NumberValue, shift: number): NumberValue {
  const power = 10n ** BigInt(Math.abs(shift))
  return shift >= 0 ? { num: num * power, den } : { num, den: den * power }
}

export function negate({ num, den }: NumberValue): NumberValue {
  return { num: -num, den }
}

export function add(a: NumberValue, b: NumberValue): NumberValue {
  return { num: a.num * b.den + b.num * a.den, den: a.den * b.den }
}

export function multiply({ num, den }: NumberValue, by: bigint): NumberValue {
  return { num: num * by, den }
}

/** The quotient of two values; undefined where the second is zero. */
export function divide(a: NumberValue, b: NumberValue): NumberValue | undefined {
  if (b.num === 0n) return undefined
  const sign = b.num < 0n ? -1n : 1n
  return { num: sign * a.num * b.den, den: sign * a.den * b.num }
}

/** `base` to a whole power; undefined for a power beyond 1,000 or one that would be too long. */
export function power(base: NumberValue, exponent: number): NumberValue | undefined {
  const times = Math.abs(exponent)
  const size = base.num.toString().length + base.den.toString().length
  if (!Number.isInteger(exponent) || times > mostExponent || size * times > mostDigits) return undefined
  const raised = { num: base.num ** BigInt(times), den: base.den ** BigInt(times) }
  return exponent < 0 ? divide({ num: 1n, den: 1n }, raised) : raised
}

/** Whether two values are the same number, or within the tolerance of the first. Every digit counts. */
export function sameValue(target: NumberValue, given: NumberValue, tolerance: Tolerance = {}): boolean {
  const apart = absolute(target.num * given.den - given.num * target.den)
  if (apart === 0n) return true
  const den = target.den * given.den
  const abs = toleranceValue(tolerance.abs)
  if (abs !== undefined && apart * abs.den <= abs.num * den) return true
  const rel = toleranceValue(tolerance.rel)
  return rel !== undefined && apart * rel.den <= rel.num * absolute(target.num) * given.den
}

function toleranceValue(given: number | undefined): NumberValue | undefined {
  if (given === undefined || !(given > 0)) return undefined
  return decimalValue(String(given))
}

function absolute(n: bigint): bigint {
  return n < 0n ? -n : n
}

/** The nearest double, for showing; what is compared is the exact value. */
export function toNumber({ num, den }: NumberValue): number {
  const plain = Number(num) / Number(den)
  if (Number.isFinite(plain) && plain !== 0) return plain
  if (num === 0n) return 0
  // Both are beyond the doubles: their quotient may not be.
  const digits = 10n ** 20n
  const short = (num * digits) / den
  return Number(short) / 1e20
}
