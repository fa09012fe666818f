import type { CellValue } from './cell-value.ts'
import { power } from './formula-numbers.ts'
import { comparisons, holds, order } from './formula-order.ts'
import {
  asGrid,
  bounded,
  FormulaProblem,
  type FormulaValue,
  finite,
  type Grid,
  isCellError,
  isGrid,
  numberOf,
  type Spend,
  textOf,
  valueAt,
} from './formula-values.ts'

/** Does an operation on two values, or cell by cell on ranges of one size or a range and a value. */
export function operate(sign: string, a: FormulaValue, b: FormulaValue, spend: Spend): FormulaValue {
  if (!isGrid(a) && !isGrid(b)) return once(sign, a, b, spend)
  const [left, right] = [asGrid(a), asGrid(b)]
  const [one, other] = [isOne(left), isOne(right)]
  if (one && other) return once(sign, valueAt(left, 0, 0), valueAt(right, 0, 0), spend)
  if (!one && !other && (left.height !== right.height || left.width !== right.width))
    return { error: '#VALUE!' }
  const { height, width } = one ? right : left
  const size = (grid: Grid, isSingle: boolean) => (isSingle ? 0 : grid.rows.length)
  const most = Math.max(size(left, one), size(right, other))
  const across = Math.max(one ? 0 : (left.rows[0]?.length ?? 0), other ? 0 : (right.rows[0]?.length ?? 0))
  const rows: CellValue[][] = []
  for (let row = 0; row < most; row++) {
    const line: CellValue[] = []
    for (let column = 0; column < across; column++) {
      const x = one ? valueAt(left, 0, 0) : valueAt(left, row, column)
      const y = other ? valueAt(right, 0, 0) : valueAt(right, row, column)
      line.push(once(sign, x, y, spend))
    }
    rows.push(line)
  }
  return { rows, height, width }
}

const isOne = ({ height, width }: Grid) => height === 1 && width === 1

function once(sign: string, a: CellValue, b: CellValue, spend: Spend): CellValue {
  spend(1)
  if (isCellError(a)) return a
  if (isCellError(b)) return b
  try {
    if (sign === '&') return bounded(textOf(a) + textOf(b), spend)
    if (comparisons.includes(sign)) {
      if (typeof a === 'string') spend(a.length / 64)
      return holds(sign, order(a, b))
    }
    return calculate(sign, numberOf(a), numberOf(b))
  } catch (thrown) {
    if (thrown instanceof FormulaProblem) return thrown.value
    throw thrown
  }
}

function calculate(sign: string, x: number, y: number): number {
  if (sign === '^') return power(x, y)
  if (sign === '/' && y === 0) throw new FormulaProblem('#DIV/0!')
  // A zero has no sign in a sheet.
  return 0 + finite(sign === '+' ? x + y : sign === '-' ? x - y : sign === '*' ? x * y : x / y)
}
