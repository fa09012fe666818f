import type { CellValue } from './cell-value.ts'
import {
  FormulaProblem,
  type FormulaValue,
  isCellError,
  isGrid,
  numberOf,
  type Spend,
} from './formula-values.ts'

/** A function of formulas over calculated arguments; throws only `FormulaProblem` and what `spend` throws. */
export interface FormulaFunction {
  /** Fewest and most arguments. */
  takes: readonly [least: number, most: number]
  run: (given: readonly FormulaValue[], spend: Spend) => FormulaValue
}

export type FormulaFunctions = Record<string, FormulaFunction>

const most = 255

export const fixed = (count: number, run: FormulaFunction['run']): FormulaFunction => ({
  takes: [count, count],
  run,
})

export const between = (least: number, top: number, run: FormulaFunction['run']): FormulaFunction => ({
  takes: [least, top],
  run,
})

export const atLeast = (least: number, run: FormulaFunction['run']): FormulaFunction => ({
  takes: [least, most],
  run,
})

/** An argument that stands, or what it is when left out. */
export function given(
  values: readonly FormulaValue[],
  index: number,
  absent: CellValue = null,
): FormulaValue {
  const value = values[index]
  return value === undefined ? absent : value
}

/** Numbers to add up: of ranges the numbers alone, of single arguments also what can be read as one. */
export function numbersOf(values: readonly FormulaValue[], spend: Spend): number[] {
  const numbers: number[] = []
  for (const value of values) {
    if (!isGrid(value)) {
      numbers.push(numberOf(value))
      continue
    }
    for (const row of value.rows)
      for (const cell of row) {
        spend(1)
        if (isCellError(cell)) throw new FormulaProblem(cell.error)
        if (typeof cell === 'number') numbers.push(cell)
      }
  }
  return numbers
}
