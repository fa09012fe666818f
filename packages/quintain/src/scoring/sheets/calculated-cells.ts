import type { CellValue } from './cell-value.ts'
import type { Cells } from './compare-cells.ts'
import { sheetCalculator } from './evaluate-formula.ts'
import { formulaTokens } from './formula-tokens.ts'

/**
 * The values of cells that may hold formulas: the value that the file keeps for a formula, and where it keeps none (as
 * in files that a library wrote) the one calculated here.
 */
export function calculatedCells(cells: Cells, cached: Cells = {}): Record<string, CellValue> {
  const isKept = (name: string) => Object.hasOwn(cached, name) && (cached[name] ?? null) !== null
  const values: Record<string, CellValue> = Object.create(null)
  const formulas: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(cells))
    if (typeof value === 'string' && value.startsWith('=') && !isKept(name)) formulas[name] = value
    else values[name] = value
  for (const [name, value] of Object.entries(cached)) if (isKept(name)) values[name] = value
  const calculator = sheetCalculator(values, { formulas })
  const names = [...Object.keys(values), ...Object.keys(formulas)]
  return Object.fromEntries(names.map((name) => [name, calculator.value(name)]))
}

/** Whether two formulas are written alike, but for case, spaces and `$`. Formulas that cannot be read are not. */
export function sameFormula(a: string, b: string): boolean {
  if (!a.startsWith('=') || !b.startsWith('=')) return false
  const [x, y] = [formulaTokens(a), formulaTokens(b)]
  return x !== undefined && y !== undefined && JSON.stringify(x) === JSON.stringify(y)
}
