import { type CellPlace, cellName, cellPlace } from './cell-name.ts'

// Texts, numbers such as 1E5 and names of sheets are passed over, and names that only begin like a cell.
const pieces = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\d[\w.]*|[A-Za-z_][\w.]*!|[A-Za-z_$][\w.$]*\(?/g
const cell = /^(\$?)([A-Za-z]{1,3})(\$?)(\d{1,7})$/

/**
 * A formula that stands for the same one at another place: cells without `$` move along. Files keep the formula of a
 * filled range once. Whole columns and rows without `$` are not moved.
 */
export function shiftFormula(formula: string, from: CellPlace, to: CellPlace): string {
  if (formula.length > 8192) return formula
  return formula.replaceAll(pieces, (piece) => {
    const parts = cell.exec(piece)
    if (parts === null) return piece
    const [, fixedColumn, letters = '', fixedRow, digits] = parts
    const place = cellPlace(`${letters.toUpperCase()}${digits}`)
    if (place === undefined) return piece
    const column = fixedColumn === '$' ? place.column : place.column + to.column - from.column
    const row = fixedRow === '$' ? place.row : place.row + to.row - from.row
    const name = cellName({ column, row })
    if (column < 1 || row < 1 || cellPlace(name) === undefined) return '#REF!'
    return name.replace(/^[A-Z]+/, (text) => fixedColumn + text + fixedRow)
  })
}
