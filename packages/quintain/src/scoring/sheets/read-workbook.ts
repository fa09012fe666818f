import type { CellValue, DateSystem } from './cell-value.ts'
import { sheetCalculator } from './evaluate-formula.ts'
import { readSheet, type SheetCell } from './read-sheet.ts'
import { dayStyles, relationsOf, sharedTexts } from './workbook-parts.ts'
import { broken, WorkbookProblem, type WorkbookProblemKind } from './workbook-problem.ts'
import { attributesOf, xmlPieces } from './xml-pieces.ts'
import { type ReadEntry, type ZipLimits, zipEntries } from './zip-entries.ts'

export interface Workbook {
  /** Where the numbers of days start. */
  dates: DateSystem
  sheets: WorkbookSheet[]
}

export interface WorkbookSheet {
  name: string
  /** Cells by name, such as `B7`; formatted cells without a value are not among them. */
  cells: ReadonlyMap<string, SheetCell>
}

export interface WorkbookLimits extends ZipLimits {
  /** Cells of all sheets. */
  cells: number
  sheets: number
}

/** 32 MiB packed, 128 MiB unpacked, 2,000 entries, 256 sheets, a million cells. */
export const workbookLimits: WorkbookLimits = {
  packed: 2 ** 25,
  unpacked: 2 ** 27,
  entries: 2000,
  sheets: 256,
  cells: 1_000_000,
}

/**
 * Reads an `.xlsx` file as an agent may have left it: nothing is written to disk, and nothing outside of the file is
 * looked at. What is no such file is a value that says why.
 */
export function readWorkbook(
  bytes: Uint8Array,
  limits: Partial<WorkbookLimits> = {},
): { workbook: Workbook } | { problem: WorkbookProblemKind; message: string } {
  try {
    return { workbook: workbookOf(bytes, { ...workbookLimits, ...limits }) }
  } catch (thrown) {
    if (thrown instanceof WorkbookProblem) return { problem: thrown.kind, message: thrown.message }
    throw thrown
  }
}

function workbookOf(bytes: Uint8Array, limits: WorkbookLimits): Workbook {
  const read = zipEntries(bytes, limits)
  const main = [...relationsOf(xmlOf(read, '_rels/.rels'), '').values()].find(
    ({ type }) => type === 'officeDocument',
  )
  if (main === undefined) throw broken('the archive holds no workbook')
  const cut = main.target.lastIndexOf('/') + 1
  const relations = relationsOf(
    xmlOf(read, `${main.target.slice(0, cut)}_rels/${main.target.slice(cut)}.rels`),
    main.target,
  )
  const { dates, sheets } = sheetList(xmlOf(read, main.target))
  if (sheets.length > limits.sheets)
    throw new WorkbookProblem('too_large', `the file has ${sheets.length} sheets`)
  const part = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.target
  const [texts, styles] = [part('sharedStrings'), part('styles')]
  const context = {
    texts: texts === undefined ? [] : sharedTexts(xmlOf(read, texts)),
    dayStyles: styles === undefined ? [] : dayStyles(xmlOf(read, styles)),
    dates,
    cellsLeft: limits.cells,
    lettersLeft: limits.unpacked,
  }
  return {
    dates,
    // Sheets of other kinds are charts and macros.
    sheets: sheets.flatMap(({ name, id }) => {
      const relation = relations.get(id)
      if (relation === undefined) throw broken(`the sheet ${JSON.stringify(name)} is not in the file`)
      return relation.type === 'worksheet'
        ? [{ name, cells: readSheet(xmlOf(read, relation.target), context) }]
        : []
    }),
  }
}

function xmlOf(read: ReadEntry, name: string): string {
  const content = read(name)
  if (content === undefined) throw broken(`${name} is not in the file`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    throw broken(`${name} is not in UTF-8`)
  }
}

function sheetList(xml: string): { dates: DateSystem; sheets: { name: string; id: string }[] } {
  let dates: DateSystem = '1900'
  const sheets: { name: string; id: string }[] = []
  for (const piece of xmlPieces(xml)) {
    if (piece.kind !== 'start' || (piece.name !== 'workbookPr' && piece.name !== 'sheet')) continue
    const attributes = attributesOf(piece.attributes)
    if (piece.name === 'workbookPr') {
      if (/^(?:1|true)$/.test(attributes.get('date1904') ?? '')) dates = '1904'
      continue
    }
    const id = [...attributes].find(([name]) => name.endsWith(':id'))?.[1] ?? ''
    const name = attributes.get('name') ?? ''
    if (name.length > 255) throw broken('a sheet has a name of more than 255 letters')
    if (sheets.some((sheet) => sheet.name.toLowerCase() === name.toLowerCase()))
      throw broken(`the file has two sheets ${JSON.stringify(name)}`)
    sheets.push({ name, id })
  }
  return { dates, sheets }
}

/**
 * The calculated values of a sheet by cell: those that the file keeps, and for formulas without one those calculated
 * here. With `recalculate` every formula is calculated, whatever the file says it gives. Undefined: no such sheet.
 */
export function sheetValues(
  workbook: Workbook,
  sheet: string,
  { recalculate = false }: { recalculate?: boolean } = {},
): Record<string, CellValue> | undefined {
  const wanted = workbook.sheets.find(({ name }) => name === sheet)
  if (wanted === undefined) return undefined
  const values: Record<string, CellValue> = {}
  const formulas: Record<string, string> = {}
  for (const { name: of, cells } of workbook.sheets)
    for (const [name, { value, formula }] of cells)
      if (formula !== undefined && (recalculate || value === null)) formulas[`${of}!${name}`] = formula
      else values[`${of}!${name}`] = value
  const calculator = sheetCalculator(values, { formulas, dates: workbook.dates })
  const valueOfCell = (key: string): CellValue =>
    Object.hasOwn(formulas, key) ? calculator.value(key) : (values[key] ?? null)
  return Object.fromEntries([...wanted.cells.keys()].map((name) => [name, valueOfCell(`${sheet}!${name}`)]))
}
