import { cellName } from './cell-name.ts'
import type { CellValue, DateSystem } from './cell-value.ts'
import type { Cells } from './compare-cells.ts'
import { dayFunctions } from './formula-days.ts'
import { formulaFunctions } from './formula-functions.ts'
import { lazyFunctions } from './formula-logic.ts'
import { operate } from './formula-operations.ts'
import type { CellRange } from './formula-tokens.ts'
import { type FormulaNode, formulaTree, rangesOf } from './formula-tree.ts'
import { FormulaProblem, type FormulaValue, type Grid, single } from './formula-values.ts'
import { sheetExtents } from './sheet-extents.ts'

const mostWork = 2_000_000
const mostDepth = 200

/** Calculates cells that hold formulas, each once. */
export interface SheetCalculator {
  /** The value of a cell: of its formula, else what it holds. */
  value(name: string): CellValue
  /** The value of a formula that stands in the sheet. */
  formula(text: string): CellValue
}

export interface CalculatorOptions {
  /** The formulas by cell; absent, the texts among the cells that start with `=`. */
  formulas?: Readonly<Record<string, string>>
  /** Where days are counted from. From 1904, functions of days are not known. 1900 when absent. */
  dates?: DateSystem
}

/** Ends everything that is being calculated: the work is used up. */
class WorkUsedUp extends Error {}

/**
 * A calculator over cells, whose names are `B7`, or `Data!B7` for those of other sheets. Total: a function that is not
 * known gives `#NAME?`, a formula that needs itself `#CIRC!`, one that cannot be read `#ERROR!`, and everything after
 * two million steps `#LIMIT!`. Formulas are the texts among the cells that start with `=`, unless they are given apart:
 * then such a text is a text.
 */
export function sheetCalculator(
  cells: Cells,
  { formulas = formulasIn(cells), dates = '1900' }: CalculatorOptions = {},
): SheetCalculator {
  // Not before a formula needs them: most sheets have none to calculate.
  let measured: ReturnType<typeof sheetExtents> | undefined
  const extents = () => (measured ??= sheetExtents([...Object.keys(cells), ...Object.keys(formulas)]))
  const known = new Map<string, CellValue>()
  const running = new Set<string>()
  let work = mostWork
  let depth = 0
  const spend = (amount: number) => {
    work -= amount
    if (work < 0) throw new WorkUsedUp()
  }
  const held = (key: string): CellValue => (Object.hasOwn(cells, key) ? (cells[key] ?? null) : null)
  const formulaAt = (key: string): string | undefined =>
    Object.hasOwn(formulas, key) ? formulas[key] : undefined

  const treeOf = (formula: string) => {
    spend(1 + formula.length / 16)
    return formulaTree(formula)
  }

  const read = (key: string): CellValue => {
    const formula = formulaAt(key)
    if (formula === undefined) return held(key)
    const value = known.get(key)
    if (value !== undefined) return value
    // What a cell needs is known before it, other than on a circle.
    if (running.has(key) || depth > mostDepth) return { error: '#CIRC!' }
    return calculate(key, treeOf(formula))
  }

  const calculate = (key: string, tree: FormulaNode | undefined): CellValue => {
    running.add(key)
    try {
      const value = result(tree, sheetOf(key))
      known.set(key, value)
      return value
    } finally {
      running.delete(key)
    }
  }

  const result = (tree: FormulaNode | undefined, sheet: string | undefined): CellValue => {
    if (tree === undefined) return { error: '#ERROR!' }
    return single(evaluate(tree, sheet)) ?? 0
  }

  const grid = (range: CellRange, own: string | undefined): Grid => {
    const { from, to } = range
    const rows = [...keysOf(range, own)].map((keys) => keys.map(read))
    return { rows, height: to.row - from.row + 1, width: to.column - from.column + 1 }
  }

  /** Keys of the cells of a range, by row, to the last row and column in use. */
  function* keysOf({ sheet, from, to }: CellRange, own: string | undefined): Generator<string[]> {
    const place = sheet ?? own
    const prefix = place === undefined ? '' : `${place}!`
    const extent = extents().get(place) ?? { row: 0, column: 0 }
    for (let row = from.row; row <= Math.min(to.row, extent.row); row++) {
      const keys: string[] = []
      for (let column = from.column; column <= Math.min(to.column, extent.column); column++) {
        spend(1)
        keys.push(prefix + cellName({ row, column }))
      }
      yield keys
    }
  }

  const evaluate = (node: FormulaNode, sheet: string | undefined): FormulaValue => {
    spend(1)
    depth++
    try {
      if (node.kind === 'value') return node.value
      if (node.kind === 'range') return grid(node.range, sheet)
      if (node.kind === 'call') return call(node.name, node.given, sheet)
      if (node.kind === 'chain')
        return node.rest.reduce(
          (value, { sign, of }) => operate(sign, value, evaluate(of, sheet), spend),
          evaluate(node.first, sheet),
        )
      return operate('*', evaluate(node.of, sheet), node.negative ? -1 : 1, spend)
    } catch (thrown) {
      if (thrown instanceof FormulaProblem) return thrown.value
      throw thrown
    } finally {
      depth--
    }
  }

  const call = (name: string, given: readonly FormulaNode[], sheet: string | undefined): FormulaValue => {
    const lazy = Object.hasOwn(lazyFunctions, name) ? lazyFunctions[name] : undefined
    if (lazy !== undefined) return lazy(given, (node) => evaluate(node, sheet))
    const plain = formulaFunctions.get(name)
    const unknown = plain === undefined || (dates === '1904' && Object.hasOwn(dayFunctions, name))
    if (unknown) return { error: '#NAME?' }
    if (given.length < plain.takes[0] || given.length > plain.takes[1]) return { error: '#ERROR!' }
    return plain.run(
      given.map((node) => evaluate(node, sheet)),
      spend,
    )
  }

  /** Calculates what a formula needs, and what that needs, without nesting: sheets have chains of thousands of cells. */
  const prepare = (tree: FormulaNode | undefined, sheet: string | undefined) => {
    const seen = new Set<string>()
    const stack = [{ key: undefined as string | undefined, tree, needs: needsOf(tree, sheet) }]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const key = top.needs.pop()
      if (key === undefined) {
        if (top.key !== undefined && !known.has(top.key)) calculate(top.key, top.tree)
        stack.pop()
      } else if (!known.has(key) && !seen.has(key)) {
        seen.add(key)
        const needed = treeOf(formulaAt(key) ?? '')
        stack.push({ key, tree: needed, needs: needsOf(needed, sheetOf(key)) })
      }
    }
  }

  const needsOf = (tree: FormulaNode | undefined, sheet: string | undefined): string[] => {
    const needs: string[] = []
    for (const range of tree === undefined ? [] : rangesOf(tree))
      for (const keys of keysOf(range, sheet))
        for (const key of keys) if (!known.has(key) && formulaAt(key) !== undefined) needs.push(key)
    return needs
  }

  const top = (
    formula: string,
    sheet: string | undefined,
    finish: (tree: FormulaNode | undefined) => CellValue,
  ) => {
    try {
      const tree = treeOf(formula)
      prepare(tree, sheet)
      return finish(tree)
    } catch (thrown) {
      if (thrown instanceof WorkUsedUp) return { error: '#LIMIT!' }
      throw thrown
    }
  }

  return {
    value: (name) => {
      const formula = formulaAt(name)
      if (formula === undefined) return held(name)
      return known.get(name) ?? top(formula, sheetOf(name), () => read(name))
    },
    formula: (text) => top(text, undefined, (tree) => result(tree, undefined)),
  }
}

const sheetOf = (key: string): string | undefined =>
  key.includes('!') ? key.slice(0, key.lastIndexOf('!')) : undefined

function formulasIn(cells: Cells): Record<string, string> {
  const isFormula = (entry: [string, CellValue]): entry is [string, string] =>
    typeof entry[1] === 'string' && entry[1].startsWith('=')
  return Object.fromEntries(Object.entries(cells).filter(isFormula))
}

/** The value of one formula over cells; see `sheetCalculator`. */
export function evaluateFormula(formula: string, cells: Cells): CellValue {
  return sheetCalculator(cells).formula(formula)
}
