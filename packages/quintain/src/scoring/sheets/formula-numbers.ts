import { atLeast, between, type FormulaFunctions, fixed, given, numbersOf } from './formula-function.ts'
import {
  asGrid,
  FormulaProblem,
  fifteenDigits,
  finite,
  isCellError,
  numberOf,
  valueAt,
  wholeOf,
} from './formula-values.ts'

const total = (numbers: readonly number[]) => finite(numbers.reduce((sum, value) => sum + value, 0))

/** A power as spreadsheets have it. */
export function power(base: number, exponent: number): number {
  if (base === 0 && exponent === 0) throw new FormulaProblem('#NUM!')
  if (base === 0 && exponent < 0) throw new FormulaProblem('#DIV/0!')
  return finite(base ** exponent)
}

/** Rounds the number as it is shown with 15 digits, so that 1.005 becomes 1.01. */
function rounded(value: number, digits: number, way: (value: number) => number): number {
  if (digits > 20) return value
  if (digits < -308) return 0
  const shifted = shift(fifteenDigits(Math.abs(value)), digits)
  return Number.isFinite(shifted)
    ? Math.sign(value) * shift(way(fifteenDigits(shifted)), -digits) || 0
    : value
}

/** Times a power of ten, by the decimal writing: without the error that a multiplication has. */
function shift(value: number, digits: number): number {
  const [number = '0', exponent = '0'] = String(value).split('e')
  return Number(`${number}e${Number(exponent) + digits}`)
}

const rounding = (way: (value: number) => number) =>
  fixed(2, ([value = null, digits = null]) => rounded(numberOf(value), wholeOf(digits), way))

export const numberFunctions: FormulaFunctions = {
  SUM: atLeast(1, (values, spend) => total(numbersOf(values, spend))),
  AVERAGE: atLeast(1, (values, spend) => {
    const numbers = numbersOf(values, spend)
    if (numbers.length === 0) throw new FormulaProblem('#DIV/0!')
    return total(numbers) / numbers.length
  }),
  MIN: atLeast(1, (values, spend) => {
    const numbers = numbersOf(values, spend)
    return numbers.length === 0 ? 0 : numbers.reduce((a, b) => Math.min(a, b))
  }),
  MAX: atLeast(1, (values, spend) => {
    const numbers = numbersOf(values, spend)
    return numbers.length === 0 ? 0 : numbers.reduce((a, b) => Math.max(a, b))
  }),
  MEDIAN: atLeast(1, (values, spend) => {
    const numbers = numbersOf(values, spend).sort((a, b) => a - b)
    if (numbers.length === 0) throw new FormulaProblem('#NUM!')
    const middle = numbers.length >> 1
    const upper = numbers[middle] ?? 0
    return numbers.length % 2 === 1 ? upper : ((numbers[middle - 1] ?? 0) + upper) / 2
  }),
  PRODUCT: atLeast(1, (values, spend) => {
    const numbers = numbersOf(values, spend)
    return numbers.length === 0 ? 0 : finite(numbers.reduce((a, b) => a * b))
  }),
  SUMPRODUCT: atLeast(1, (values, spend) => {
    const grids = values.map(asGrid)
    const [first] = grids
    if (first === undefined) return 0
    if (grids.some(({ height, width }) => height !== first.height || width !== first.width))
      throw new FormulaProblem('#VALUE!')
    let sum = 0
    for (const [row, cells] of first.rows.entries())
      for (const column of cells.keys()) {
        spend(grids.length)
        let product = 1
        for (const grid of grids) {
          const value = valueAt(grid, row, column)
          if (isCellError(value)) throw new FormulaProblem(value.error)
          product *= typeof value === 'number' ? value : 0
        }
        sum += product
      }
    return finite(sum)
  }),
  ROUND: rounding((value) => Math.floor(value + 0.5)),
  ROUNDUP: rounding(Math.ceil),
  ROUNDDOWN: rounding(Math.floor),
  ABS: fixed(1, ([value = null]) => Math.abs(numberOf(value))),
  INT: fixed(1, ([value = null]) => Math.floor(numberOf(value))),
  TRUNC: between(1, 2, (values) =>
    rounded(numberOf(given(values, 0)), wholeOf(given(values, 1, 0)), Math.floor),
  ),
  SIGN: fixed(1, ([value = null]) => Math.sign(numberOf(value))),
  MOD: fixed(2, ([a = null, b = null]) => {
    const [value, divisor] = [numberOf(a), numberOf(b)]
    if (divisor === 0) throw new FormulaProblem('#DIV/0!')
    return finite(value - divisor * Math.floor(value / divisor))
  }),
  SQRT: fixed(1, ([value = null]) => finite(Math.sqrt(numberOf(value)))),
  POWER: fixed(2, ([base = null, exponent = null]) => power(numberOf(base), numberOf(exponent))),
}
