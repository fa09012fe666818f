import { type CellPlace, cellPlace, columnNumber, lastPlace } from './cell-name.ts'

/** A range of cells; one cell is a range from itself to itself. Without a sheet it is in the formula's own. */
export interface CellRange {
  sheet: string | undefined
  from: CellPlace
  to: CellPlace
}

export type FormulaToken =
  | { kind: 'number' | 'text' | 'name' | 'sign' | 'error'; text: string }
  | { kind: 'range'; range: CellRange }

const mostLetters = 32_768
const mostTokens = 10_000

const sheet = String.raw`(?:(?:'((?:[^']|'')+)'|([A-Za-z_][\w.]*))!)?`
const cells = String.raw`\$?[A-Za-z]{1,3}\$?\d{1,7}(?:\s*:\s*\$?[A-Za-z]{1,3}\$?\d{1,7})?`
const columns = String.raw`\$?[A-Za-z]{1,3}\s*:\s*\$?[A-Za-z]{1,3}`
const rows = String.raw`\$?\d{1,7}\s*:\s*\$?\d{1,7}`
const pattern = new RegExp(
  [
    String.raw`\s+`,
    String.raw`${sheet}(${cells}|${columns}|${rows})(?![\w(.!])`,
    String.raw`(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)`,
    `"((?:[^"]|"")*)"`,
    String.raw`([A-Za-z_][\w.]*)`,
    '(<=|>=|<>|[-+*/^&=<>(),%])',
    String.raw`(#(?:N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!))`,
  ].join('|'),
  'y',
)

/**
 * The pieces of a formula, without its `=`. Undefined where a character fits none,
 * and for more than 10,000 pieces or 32,768 characters.
 */
export function formulaTokens(formula: string): FormulaToken[] | undefined {
  if (formula.length > mostLetters) return undefined
  const tokens: FormulaToken[] = []
  pattern.lastIndex = formula.startsWith('=') ? 1 : 0
  while (pattern.lastIndex < formula.length) {
    const found = pattern.exec(formula)
    if (found === null || tokens.length >= mostTokens) return undefined
    const [, quoted, bare, place, number, text, name, sign, error] = found
    if (place !== undefined) {
      const range = cellRange(place, quoted?.replaceAll("''", "'") ?? bare)
      tokens.push(range === undefined ? { kind: 'error', text: '#REF!' } : { kind: 'range', range })
    } else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (text !== undefined) tokens.push({ kind: 'text', text: text.replaceAll('""', '"') })
    else if (name !== undefined) tokens.push({ kind: 'name', text: plainName(name) })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else if (error !== undefined) tokens.push({ kind: 'error', text: error })
  }
  return tokens
}

/** Files put a prefix before functions that came after 2007. */
const plainName = (name: string) => name.toUpperCase().replace(/^(?:_XLFN\.|_XLWS\.)+/, '')

function cellRange(text: string, sheetName: string | undefined): CellRange | undefined {
  const [first = '', last = first] = text.toUpperCase().replaceAll(/[$\s]/g, '').split(':')
  const from = corner(first, { column: 1, row: 1 })
  const to = corner(last, lastPlace)
  if (from === undefined || to === undefined) return undefined
  return {
    sheet: sheetName,
    from: { column: Math.min(from.column, to.column), row: Math.min(from.row, to.row) },
    to: { column: Math.max(from.column, to.column), row: Math.max(from.row, to.row) },
  }
}

/** One end of a range; undefined outside of any sheet. A whole column has the other number of `rest`, and a whole row too. */
function corner(text: string, rest: CellPlace): CellPlace | undefined {
  if (/^\d+$/.test(text)) {
    const row = Number(text)
    return row < 1 || row > lastPlace.row ? undefined : { column: rest.column, row }
  }
  if (/\d/.test(text)) return cellPlace(text)
  const column = columnNumber(text)
  return column > lastPlace.column ? undefined : { column, row: rest.row }
}
