import type { CellValue } from './cell-value.ts'
import { atLeast, between, type FormulaFunctions, fixed } from './formula-function.ts'
import { criterion } from './formula-order.ts'
import {
  FormulaProblem,
  type FormulaValue,
  finite,
  type Grid,
  isCellError,
  isGrid,
  type Spend,
  single,
  textNumber,
  valueAt,
} from './formula-values.ts'

function range(value: FormulaValue | undefined): Grid {
  if (!isGrid(value)) throw new FormulaProblem('#VALUE!')
  return value
}

const isNumber = (value: CellValue) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && textNumber(value) !== undefined)

function count(values: readonly FormulaValue[], spend: Spend, counts: (value: CellValue) => boolean): number {
  let found = 0
  for (const value of values)
    if (isGrid(value))
      for (const row of value.rows)
        for (const cell of row) {
          spend(1)
          if (counts(cell)) found++
        }
  return found
}

/** Positions that all pairs of a range and a criterion let through. Blank cells past the last used are counted alone. */
function matching(pairs: readonly FormulaValue[], spend: Spend): { at: [number, number][]; blanks: number } {
  const tests: { grid: Grid; test: (value: CellValue) => boolean }[] = []
  for (let index = 0; index < pairs.length; index += 2) {
    const grid = range(pairs[index])
    const wanted = pairs[index + 1]
    if (wanted === undefined) throw new FormulaProblem('#VALUE!')
    tests.push({ grid, test: criterion(single(wanted), spend) })
  }
  const [first] = tests
  if (first === undefined) throw new FormulaProblem('#VALUE!')
  const { height, width } = first.grid
  if (tests.some(({ grid }) => grid.height !== height || grid.width !== width))
    throw new FormulaProblem('#VALUE!')
  const rows = Math.max(...tests.map(({ grid }) => grid.rows.length))
  const columns = Math.max(...tests.map(({ grid }) => grid.rows[0]?.length ?? 0))
  const at: [number, number][] = []
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      spend(tests.length)
      if (tests.every(({ grid, test }) => test(valueAt(grid, row, column)))) at.push([row, column])
    }
  const blanks = tests.every(({ test }) => test(null)) ? height * width - rows * columns : 0
  return { at, blanks }
}

function sumWhere(sums: Grid, pairs: readonly FormulaValue[], spend: Spend): { sum: number; count: number } {
  let sum = 0
  let found = 0
  for (const [row, column] of matching(pairs, spend).at) {
    const value = valueAt(sums, row, column)
    if (isCellError(value)) throw new FormulaProblem(value.error)
    if (typeof value !== 'number') continue
    sum += value
    found++
  }
  return { sum: finite(sum), count: found }
}

function mean({ sum, count: of }: { sum: number; count: number }): number {
  if (of === 0) throw new FormulaProblem('#DIV/0!')
  return sum / of
}

function sameSize(sums: Grid, first: Grid): Grid {
  if (sums.height !== first.height || sums.width !== first.width) throw new FormulaProblem('#VALUE!')
  return sums
}

export const countFunctions: FormulaFunctions = {
  COUNT: atLeast(
    1,
    (values, spend) =>
      count(values, spend, (value) => typeof value === 'number') +
      values.filter((value) => !isGrid(value) && isNumber(value)).length,
  ),
  COUNTA: atLeast(
    1,
    (values, spend) =>
      count(values, spend, (value) => value !== null) + values.filter((value) => !isGrid(value)).length,
  ),
  COUNTBLANK: fixed(1, (values, spend) => {
    const { height, width } = range(values[0])
    return height * width - count(values, spend, (value) => value !== null && value !== '')
  }),
  COUNTIF: fixed(2, (pairs, spend) => {
    const { at, blanks } = matching(pairs, spend)
    return at.length + blanks
  }),
  COUNTIFS: atLeast(2, (pairs, spend) => {
    const { at, blanks } = matching(pairs, spend)
    return at.length + blanks
  }),
  SUMIF: between(
    2,
    3,
    ([cells = null, wanted = null, sums = cells], spend) =>
      sumWhere(sameSize(range(sums), range(cells)), [cells, wanted], spend).sum,
  ),
  SUMIFS: atLeast(
    3,
    ([sums, ...pairs], spend) => sumWhere(sameSize(range(sums), range(pairs[0])), pairs, spend).sum,
  ),
  AVERAGEIF: between(2, 3, ([cells = null, wanted = null, sums = cells], spend) =>
    mean(sumWhere(sameSize(range(sums), range(cells)), [cells, wanted], spend)),
  ),
  AVERAGEIFS: atLeast(3, ([sums, ...pairs], spend) =>
    mean(sumWhere(sameSize(range(sums), range(pairs[0])), pairs, spend)),
  ),
}
