import { MathLimit } from './budget.ts'
import type { Rational } from './rational.ts'

/** A real number that lies within `r` of `m`, both in units of 2^-256. */
export interface Ball {
  readonly m: bigint
  readonly r: bigint
}

/** Thrown where a ball is too wide to go on: nothing can be said. */
export class Unsure extends Error {
  override readonly name = 'Unsure'
}

export const precision = 256n
const one = 1n << precision
/** What the last steps of a series may be off by, with much to spare. */
const slack = 1n << 24n

const magnitude = (n: bigint) => (n < 0n ? -n : n)

export function ballOf({ n, d }: Rational): Ball {
  return { m: (n << precision) / d, r: d === 1n ? 0n : 1n }
}

export const zeroBall: Ball = { m: 0n, r: 0n }
export const oneBall: Ball = { m: one, r: 0n }

export function addBall(a: Ball, b: Ball): Ball {
  return { m: a.m + b.m, r: a.r + b.r }
}

export function negBall({ m, r }: Ball): Ball {
  return { m: -m, r }
}

export function mulBall(a: Ball, b: Ball): Ball {
  const r = (magnitude(a.m) * b.r + magnitude(b.m) * a.r + a.r * b.r) >> precision
  return { m: (a.m * b.m) >> precision, r: r + 2n }
}

export function invBall({ m, r }: Ball): Ball {
  const size = magnitude(m)
  if (size <= r * 2n) throw new Unsure('a division by what may be zero')
  const unit = one * one
  return { m: unit / m, r: (r * unit) / (size * (size - r)) + 2n }
}

/** -1 or 1 where the sign is certain, else 0. */
export function signOf({ m, r }: Ball): -1 | 0 | 1 {
  return m > r ? 1 : -m > r ? -1 : 0
}

/** The whole k-th root of a whole number, rounded down. */
function floorRoot(n: bigint, k: bigint): bigint {
  if (n < 2n) return n
  let guess = 1n << (BigInt(n.toString(16).length * 4) / k + 1n)
  for (;;) {
    const next = ((k - 1n) * guess + n / guess ** (k - 1n)) / k
    if (next >= guess) return guess
    guess = next
  }
}

export function sqrtBall(ball: Ball): Ball {
  if (signOf(ball) < 1) throw new Unsure('a root of what may be below zero')
  const m = floorRoot(ball.m << precision, 2n)
  // √x − √(x − r) is at most r/√x.
  return { m, r: (ball.r << precision) / (m > 0n ? m : 1n) + 2n }
}

/** A ball above zero to a fraction. */
export function powBall(ball: Ball, { n, d }: Rational): Ball {
  if (n < 0n) return invBall(powBall(ball, { n: -n, d }))
  if (d === 1n && n <= 64n) {
    let product = oneBall
    for (let i = 0n; i < n; i++) product = mulBall(product, ball)
    return product
  }
  if (d === 2n && n <= 63n) return mulBall(powBall(ball, { n: n / 2n, d: 1n }), sqrtBall(ball))
  return expBall(mulBall(lnBall(ball), ballOf({ n, d })))
}

/** 2·atanh(over / under) for a small fraction. */
function twiceAtanh(z: bigint): bigint {
  const square = (z * z) >> precision
  let power = z
  let sum = 0n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k
    power = (power * square) >> precision
    if (magnitude(power) < 2n) break
  }
  return sum * 2n
}

let ln2: bigint | undefined

function naturalTwo(): bigint {
  ln2 ??= twiceAtanh(one / 3n)
  return ln2
}

export function lnBall(ball: Ball): Ball {
  if (signOf(ball) < 1) throw new Unsure('a logarithm of what may not be above zero')
  const shift = BigInt(ball.m.toString(2).length) - 1n - precision
  const y = shift >= 0n ? ball.m >> shift : ball.m << -shift
  const m = shift * naturalTwo() + twiceAtanh(((y - one) << precision) / (y + one))
  return { m, r: (ball.r << precision) / (ball.m - ball.r) + slack + (magnitude(shift) << 10n) }
}

export function expBall({ m, r }: Ball): Ball {
  if (magnitude(m) >> precision > 20_000n) throw new MathLimit('too_large')
  if (r >= one) throw new Unsure('an exponent that is not known')
  const two = naturalTwo()
  const turns = m / two
  const rest = (m - turns * two) >> 8n
  let term = one
  let sum = one
  for (let k = 1n; term !== 0n && k < 200n; k++) {
    term = ((term * rest) >> precision) / k
    sum += term
    if (magnitude(term) < 2n) break
  }
  for (let i = 0; i < 8; i++) sum = (sum * sum) >> precision
  const scaled = turns >= 0n ? sum << turns : sum >> -turns
  const wide = ((magnitude(scaled) * (r * 2n + slack)) >> precision) + 2n
  return { m: scaled, r: wide }
}

let pi: bigint | undefined

function circle(): bigint {
  // Machin: π/4 = 4·atan(1/5) − atan(1/239).
  pi ??= 4n * (4n * atanOfInverse(5n) - atanOfInverse(239n))
  return pi
}

function atanOfInverse(n: bigint): bigint {
  let power = one / n
  let sum = power
  for (let k = 3n, sign = -1n; power !== 0n; k += 2n, sign = -sign) {
    power /= n * n
    sum += (sign * power) / k
  }
  return sum
}

export function piBall(): Ball {
  return { m: circle(), r: slack }
}

/** Sine and cosine. */
export function circularBalls({ m, r }: Ball): { sin: Ball; cos: Ball } {
  if (magnitude(m) >> (precision + 64n) > 0n) throw new MathLimit('too_large')
  const full = 2n * circle()
  const turns = m / full
  // Small enough for a short series, doubled back afterwards.
  const x = (m - turns * full) >> 6n
  const square = (x * x) >> precision
  let term = x
  let sine = x
  for (let k = 2n; magnitude(term) > 1n; k += 2n) {
    term = -((term * square) >> precision) / (k * (k + 1n))
    sine += term
  }
  term = one
  let cosine = one
  for (let k = 1n; magnitude(term) > 1n; k += 2n) {
    term = -((term * square) >> precision) / (k * (k + 1n))
    cosine += term
  }
  for (let i = 0; i < 6; i++) {
    const doubled = (2n * sine * cosine) >> precision
    cosine = ((2n * cosine * cosine) >> precision) - one
    sine = doubled
  }
  const wide = r + slack + magnitude(turns) * slack
  return { sin: { m: sine, r: wide }, cos: { m: cosine, r: wide } }
}

export function atanBall(ball: Ball): Ball {
  let x = ball
  let doubled = 0n
  while (magnitude(x.m) > one >> 4n) {
    const root = sqrtBall(addBall(oneBall, mulBall(x, x)))
    x = mulBall(x, invBall(addBall(oneBall, root)))
    doubled++
    if (doubled > 12n) break
  }
  const square = (x.m * x.m) >> precision
  let power = x.m
  let sum = x.m
  for (let k = 3n, sign = -1n; magnitude(power) > 1n; k += 2n, sign = -sign) {
    power = (power * square) >> precision
    sum += (sign * power) / k
  }
  return { m: sum << doubled, r: (x.r + slack) << doubled }
}
