import { type CellValue, type DateSystem, dateSerial } from './cell-value.ts'

export interface CellRules {
  /** `lenient` when absent: a blank cell equals empty text, and never zero. `strict`: only a blank equals a blank. */
  blanks?: 'lenient' | 'strict'
  /** Absolute tolerance of numbers; 0 when absent. */
  absTol?: number
  /** Relative tolerance of numbers, of the larger of the two; 1e-9 when absent. */
  relTol?: number
  /** Reads text such as `2026-03-19` as the day's serial number. Absent, text is text. */
  type?: 'date'
  /** Where day numbers start; 1900 when absent. */
  dates?: DateSystem
}

/**
 * Whether two calculated cells hold the same value. Types count: the text "5" is not the number 5, TRUE is not 1.
 * Text is compared exactly, errors by name. NaN and the infinities, which no cell holds, equal nothing.
 */
export function sameCell(gold: CellValue, actual: CellValue, rules: CellRules = {}): boolean {
  const a = typed(gold, rules)
  const b = typed(actual, rules)
  if (a === null || b === null) return a === b
  if (typeof a === 'number' && typeof b === 'number') return near(a, b, rules)
  if (typeof a === 'object' && typeof b === 'object') return a.error.toUpperCase() === b.error.toUpperCase()
  return a === b
}

function typed(value: CellValue, { blanks = 'lenient', type, dates }: CellRules): CellValue {
  if (value === '' && blanks === 'lenient') return null
  if (type === 'date' && typeof value === 'string') return dateSerial(value, dates) ?? value
  return value
}

function near(a: number, b: number, { absTol = 0, relTol = 1e-9 }: CellRules): boolean {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false
  return a === b || Math.abs(a - b) <= Math.max(absTol, relTol * Math.max(Math.abs(a), Math.abs(b)))
}

/** Cells by name (`B7`). A cell that is absent is blank. */
export type Cells = Readonly<Record<string, CellValue>>

/** Names of the gold's cells that differ in the other sheet. Cells that the gold does not name are not looked at. */
export function differentCells(
  gold: Cells,
  actual: Cells,
  rulesOf: (name: string) => CellRules = () => ({}),
): string[] {
  return Object.keys(gold).filter((name) => {
    const value = Object.hasOwn(actual, name) ? actual[name] : null
    return !sameCell(gold[name] ?? null, value ?? null, rulesOf(name))
  })
}

/**
 * Whether a gold sheet may be compared with: every formula in it has a calculated value. With an empty gold value the
 * right answer would fail and an empty cell would pass.
 */
export function admitGoldSheet(
  gold: Cells,
  cached: Cells,
): { valid: boolean; reason: 'gold_not_calculated' | null; cells: string[] } {
  const cells = Object.keys(gold).filter((name) => {
    const value = gold[name]
    if (typeof value !== 'string' || !value.startsWith('=')) return false
    return !Object.hasOwn(cached, name) || cached[name] === null || cached[name] === undefined
  })
  return { valid: cells.length === 0, reason: cells.length === 0 ? null : 'gold_not_calculated', cells }
}
