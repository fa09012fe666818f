import type { CellValue } from './cell-value.ts'
import { between, type FormulaFunctions, fixed, given } from './formula-function.ts'
import { order, wildcard } from './formula-order.ts'
import {
  asGrid,
  FormulaProblem,
  type FormulaValue,
  type Grid,
  isCellError,
  type Spend,
  scalar,
  single,
  truthOf,
  valueAt,
  wholeOf,
} from './formula-values.ts'

type Plain = ReturnType<typeof scalar>

/** `exact`, with wildcards or without; else the nearest that is not above or not below. */
type Way = 'exact' | 'wildcards' | 'below' | 'above'

/**
 * The position of a value in a line, or undefined. `below` and `above` take the nearest whatever the order of the line,
 * and of equals the first (the last where `last` says so).
 */
function position(
  wanted: Plain,
  line: readonly CellValue[],
  { way, last = false, spend }: { way: Way; last?: boolean; spend: Spend },
): number | undefined {
  let best: number | undefined
  for (const [index, value] of line.entries()) {
    spend(1)
    if (value === null || isCellError(value) || typeof value !== typeof (wanted ?? 0)) continue
    if (way === 'wildcards' && typeof wanted === 'string' && typeof value === 'string') {
      if (!wildcard(wanted, value, spend)) continue
    } else {
      const away = order(value, wanted)
      if (way === 'exact' || way === 'wildcards') {
        if (away !== 0) continue
      } else {
        if (way === 'below' ? away > 0 : away < 0) continue
        const nearer = best === undefined ? 1 : order(value, line[best] ?? null) * (way === 'below' ? 1 : -1)
        if (nearer > 0 || (last && nearer === 0)) best = index
        continue
      }
    }
    best = index
    if (!last) return index
  }
  return best
}

/** The single row or column of a grid, as a list. */
function lineOf(grid: Grid): CellValue[] {
  if (grid.width === 1) return grid.rows.map(([value = null]) => value)
  if (grid.height !== 1) throw new FormulaProblem('#N/A')
  return [...(grid.rows[0] ?? [])]
}

const column = (grid: Grid, index: number): CellValue[] => grid.rows.map((row) => row[index] ?? null)

function found(at: number | undefined): number {
  if (at === undefined) throw new FormulaProblem('#N/A')
  return at
}

const nearest = (values: readonly FormulaValue[]): Way =>
  truthOf(given(values, 3, true)) ? 'below' : 'wildcards'

function lookUp(values: readonly FormulaValue[], spend: Spend, down: boolean): CellValue {
  const wanted = scalar(given(values, 0))
  const grid = asGrid(given(values, 1))
  const index = wholeOf(given(values, 2))
  if (index < 1) throw new FormulaProblem('#VALUE!')
  if (index > (down ? grid.width : grid.height)) throw new FormulaProblem('#REF!')
  const keys = down ? column(grid, 0) : [...(grid.rows[0] ?? [])]
  const way = nearest(values)
  const at = found(position(wanted, keys, { way, last: way === 'below', spend }))
  return down ? valueAt(grid, at, index - 1) : valueAt(grid, index - 1, at)
}

/** A whole row or column where its number is 0, else one cell. */
function indexed(grid: Grid, row: number, at: number): FormulaValue {
  if (row < 0 || at < 0) throw new FormulaProblem('#VALUE!')
  if (row > grid.height || at > grid.width) throw new FormulaProblem('#REF!')
  if (row > 0 && at > 0) return valueAt(grid, row - 1, at - 1)
  if (row > 0) return { rows: [grid.rows[row - 1] ?? []], height: 1, width: grid.width }
  if (at > 0) return { rows: column(grid, at - 1).map((value) => [value]), height: grid.height, width: 1 }
  return grid
}

const matchWays = new Map<number, Way>([
  [1, 'below'],
  [0, 'wildcards'],
  [-1, 'above'],
])
const xlookupWays = new Map<number, Way>([
  [0, 'exact'],
  [-1, 'below'],
  [1, 'above'],
  [2, 'wildcards'],
])

function wayOf(ways: ReadonlyMap<number, Way>, value: FormulaValue): Way {
  const way = ways.get(wholeOf(value))
  if (way === undefined) throw new FormulaProblem('#VALUE!')
  return way
}

export const lookupFunctions: FormulaFunctions = {
  VLOOKUP: between(3, 4, (values, spend) => lookUp(values, spend, true)),
  HLOOKUP: between(3, 4, (values, spend) => lookUp(values, spend, false)),
  MATCH: between(2, 3, (values, spend) => {
    const way = wayOf(matchWays, given(values, 2, 1))
    const line = lineOf(asGrid(given(values, 1)))
    return 1 + found(position(scalar(given(values, 0)), line, { way, last: way === 'below', spend }))
  }),
  INDEX: between(2, 3, (values) => {
    const grid = asGrid(given(values, 0))
    const [first, second] = [wholeOf(given(values, 1)), wholeOf(given(values, 2, 0))]
    // Of a single row the one number counts columns.
    if (values.length === 2 && grid.height === 1) return indexed(grid, 1, first)
    return indexed(grid, first, values.length === 2 && grid.width === 1 ? 1 : second)
  }),
  XLOOKUP: between(3, 6, (values, spend) => {
    const keys = asGrid(given(values, 1))
    const results = asGrid(given(values, 2))
    const down = keys.width === 1
    if (down ? results.height !== keys.height : results.width !== keys.width)
      throw new FormulaProblem('#VALUE!')
    const search = wholeOf(given(values, 5, 1))
    if (search !== 1 && search !== -1) throw new FormulaProblem('#VALUE!')
    const way = wayOf(xlookupWays, given(values, 4, 0))
    const at = position(scalar(given(values, 0)), lineOf(keys), { way, last: search === -1, spend })
    if (at !== undefined) return down ? indexed(results, at + 1, 0) : indexed(results, 0, at + 1)
    return values[3] === undefined ? { error: '#N/A' } : single(values[3])
  }),
  ROWS: fixed(1, ([value = null]) => asGrid(value).height),
  COLUMNS: fixed(1, ([value = null]) => asGrid(value).width),
}
