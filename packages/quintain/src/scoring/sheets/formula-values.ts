import { type CellError, type CellValue, dateSerial } from './cell-value.ts'

/** Values of a range. Rows and columns past the last one used in the sheet are left out of `rows`: they are blank. */
export interface Grid {
  rows: readonly (readonly CellValue[])[]
  height: number
  width: number
}

export type FormulaValue = CellValue | Grid

/** Counts work; throws when a formula takes more than it may. */
export type Spend = (work: number) => void

/** Ends the calculation of a function with an error value. Never leaves the evaluator. */
export class FormulaProblem extends Error {
  readonly value: CellError
  constructor(error: string) {
    super(error)
    this.value = { error }
  }
}

export const isGrid = (value: FormulaValue | undefined): value is Grid =>
  typeof value === 'object' && value !== null && 'rows' in value

export const isCellError = (value: FormulaValue | undefined): value is CellError =>
  typeof value === 'object' && value !== null && 'error' in value

/** The value at a row and column of a grid, counted from 0. */
export const valueAt = (grid: Grid, row: number, column: number): CellValue =>
  grid.rows[row]?.[column] ?? null

export const asGrid = (value: FormulaValue): Grid =>
  isGrid(value) ? value : { rows: [[value]], height: 1, width: 1 }

/** The one value of a cell or of a range of one cell; errors among them are kept. */
export function single(value: FormulaValue): CellValue {
  if (!isGrid(value)) return value
  return value.height === 1 && value.width === 1 ? valueAt(value, 0, 0) : { error: '#VALUE!' }
}

/** As `single`, but throws errors. */
export function scalar(value: FormulaValue): Exclude<CellValue, CellError> {
  const one = single(value)
  if (isCellError(one)) throw new FormulaProblem(one.error)
  return one
}

const numeral = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*$/

/** The number that a text says: digits, a percentage or an ISO day; undefined for all else. */
export function textNumber(text: string): number | undefined {
  if (text.length > 400) return undefined
  const parts = numeral.exec(text)
  if (parts === null) return dateSerial(text.trim())
  const number = Number(parts[1]) / (parts[2] === '%' ? 100 : 1)
  return Number.isFinite(number) ? number : undefined
}

export function numberOf(value: FormulaValue): number {
  const one = scalar(value)
  if (one === null) return 0
  const number = typeof one === 'string' ? textNumber(one) : Number(one)
  if (number === undefined) throw new FormulaProblem('#VALUE!')
  return number
}

export const wholeOf = (value: FormulaValue): number => Math.trunc(numberOf(value))

export function truthOf(value: FormulaValue): boolean {
  const one = scalar(value)
  if (typeof one !== 'string') return Boolean(one)
  const text = one.toUpperCase()
  if (text !== 'TRUE' && text !== 'FALSE') throw new FormulaProblem('#VALUE!')
  return text === 'TRUE'
}

/** Numbers are calculated in doubles and compared and shown with 15 digits, as spreadsheets do. */
export const fifteenDigits = (value: number): number => Number(value.toPrecision(15))

export function textOf(value: FormulaValue): string {
  const one = scalar(value)
  if (one === null) return ''
  if (typeof one === 'string') return one
  return typeof one === 'boolean' ? String(one).toUpperCase() : String(fifteenDigits(one)).toUpperCase()
}

export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new FormulaProblem('#NUM!')
  return value
}

const mostText = 32_767

/** The text, where a cell can hold it. */
export function bounded(text: string, spend: Spend): string {
  spend(1 + text.length / 16)
  if (text.length > mostText) throw new FormulaProblem('#VALUE!')
  return text
}

/** Every value of the arguments that cells hold, row by row. */
export function* valuesOf(given: readonly FormulaValue[]): Generator<CellValue> {
  for (const value of given) {
    if (!isGrid(value)) yield value
    else for (const row of value.rows) yield* row
  }
}
