import { type CellPlace, cellName, cellPlace } from './cell-name.ts'
import { type CellValue, type DateSystem, dateSerial } from './cell-value.ts'
import { shiftFormula } from './shift-formula.ts'
import { cellLetters } from './workbook-parts.ts'
import { broken, WorkbookProblem } from './workbook-problem.ts'
import { attributesOf, xmlPieces } from './xml-pieces.ts'

/** A cell as a file holds it. */
export interface SheetCell {
  /** The value; of a formula the one that the file keeps, null where it keeps none. */
  value: CellValue
  /** The text that the file has for it: of a number every digit, which a double may not hold. */
  stored: string
  /** The formula with its `=`. */
  formula?: string
  /** The number is shown as a day or a time. */
  day?: true
}

/** What cells refer to, and how many cells may still be read from the file. */
export interface SheetContext {
  texts: readonly string[]
  dayStyles: readonly boolean[]
  dates: DateSystem
  cellsLeft: number
  /** Letters of formulas that may still be made from shared ones. */
  lettersLeft: number
}

interface OpenCell {
  name: string
  place: CellPlace
  type: string
  style: number
  stored: string | undefined
  formula: string | undefined
  /** Number of the formula that the cell shares. */
  shares: string | undefined
}

/** The cells of a worksheet by name, without those that are only formatted. Throws `WorkbookProblem`. */
export function readSheet(xml: string, context: SheetContext): Map<string, SheetCell> {
  const cells = new Map<string, SheetCell>()
  const shared = new Map<string, { formula: string; from: CellPlace }>()
  const at: CellPlace = { column: 0, row: 0 }
  let cell: OpenCell | undefined
  let target: 'stored' | 'formula' | undefined
  let inData = false
  let phonetic = false
  for (const piece of xmlPieces(xml)) {
    if (piece.kind === 'text') {
      if (cell !== undefined && target !== undefined && !phonetic)
        cell[target] = (cell[target] ?? '') + piece.text
      continue
    }
    const starts = piece.kind === 'start'
    const { name } = piece
    if (name === 'sheetData') inData = starts
    else if (!inData) continue
    else if (name === 'row' && starts) {
      const row = attributesOf(piece.attributes).get('r')
      at.row = row === undefined ? at.row + 1 : Number(row)
      at.column = 0
    } else if (name === 'c' && starts) {
      cell = openCell(attributesOf(piece.attributes), at)
      at.column = cell.place.column
    } else if (name === 'c' && cell !== undefined) {
      const read = closeCell(cell, shared, context)
      if (read !== undefined) {
        if (cells.has(cell.name)) throw broken(`the sheet has ${cell.name} twice`)
        if (--context.cellsLeft < 0) throw new WorkbookProblem('too_large', 'the file has too many cells')
        cells.set(cell.name, read)
      }
      cell = undefined
    } else if (cell === undefined) continue
    else if (name === 'v' || name === 't') {
      target = starts ? 'stored' : undefined
      // A text may be empty.
      cell.stored ??= ''
    } else if (name === 'rPh') phonetic = starts
    else if (name === 'f') {
      target = starts ? 'formula' : undefined
      if (!starts) continue
      const attributes = attributesOf(piece.attributes)
      if (attributes.get('t') === 'shared') cell.shares = attributes.get('si')
    }
  }
  return cells
}

function openCell(attributes: ReadonlyMap<string, string>, at: CellPlace): OpenCell {
  const name = attributes.get('r') ?? cellName({ column: at.column + 1, row: at.row })
  const place = cellPlace(name)
  if (place === undefined) throw broken(`${JSON.stringify(name.slice(0, 20))} is no cell`)
  if (place.row !== at.row) throw broken(`${name} stands in another row`)
  const type = attributes.get('t') ?? 'n'
  const style = Number(attributes.get('s') ?? 0)
  return { name, place, type, style, stored: undefined, formula: undefined, shares: undefined }
}

function closeCell(
  cell: OpenCell,
  shared: Map<string, { formula: string; from: CellPlace }>,
  context: SheetContext,
): SheetCell | undefined {
  const formula = formulaOf(cell, shared, context)
  const value = cell.stored === undefined ? null : typedValue(cell, cell.stored, context)
  if (value === null && formula === undefined) return undefined
  const stored = typeof value === 'string' ? value : (cell.stored ?? '')
  const day = typeof value === 'number' && (cell.type === 'd' || context.dayStyles[cell.style] === true)
  return {
    value,
    stored,
    ...(formula === undefined ? {} : { formula: `=${formula}` }),
    ...(day ? { day } : {}),
  }
}

function formulaOf(
  { formula, shares, place }: OpenCell,
  shared: Map<string, { formula: string; from: CellPlace }>,
  context: SheetContext,
): string | undefined {
  if (shares === undefined) return formula
  if (formula !== undefined && formula !== '') {
    shared.set(shares, { formula, from: { ...place } })
    return formula
  }
  const first = shared.get(shares)
  if (first === undefined) return undefined
  context.lettersLeft -= first.formula.length
  if (context.lettersLeft < 0)
    throw new WorkbookProblem('too_large', 'the shared formulas of the file are too long')
  return shiftFormula(first.formula, first.from, place)
}

/** The value that a type and its text mean (ECMA-376 part 1, 18.18.11). */
function typedValue({ name, type }: OpenCell, stored: string, { texts, dates }: SheetContext): CellValue {
  if (type === 'str' || type === 'inlineStr') return cellLetters(stored)
  const text = stored.trim()
  if (type === 's') {
    const shared = /^\d{1,9}$/.test(text) ? texts[Number(text)] : undefined
    if (shared === undefined) throw broken(`${name} refers to a text that is not there`)
    return shared
  }
  if (text === '') return null
  if (type === 'e') return { error: text }
  if (type === 'b' && /^(?:[01]|true|false)$/i.test(text))
    return text === '1' || text.toLowerCase() === 'true'
  if (type === 'd') return dateSerial(text.replace(/(?:\.0+)?Z?$/, ''), dates) ?? text
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/.test(text) ? Number(text) : Number.NaN
  if (type !== 'n' || !Number.isFinite(number)) throw broken(`${name} has no value of its type`)
  return number
}
