import { decimalValue, type Tolerance } from '../number-value.ts'
import { type Rational, rational } from './rational.ts'

/** A tolerance as fractions; what is not above zero is none. */
export function rationalOfTolerance({ abs, rel }: Tolerance): {
  abs: Rational | undefined
  rel: Rational | undefined
} {
  return { abs: fractionOf(abs), rel: fractionOf(rel) }
}

function fractionOf(given: number | undefined): Rational | undefined {
  if (given === undefined || !(given > 0)) return undefined
  const exact = decimalValue(String(given))
  return exact === undefined ? undefined : rational(exact.num, exact.den)
}
