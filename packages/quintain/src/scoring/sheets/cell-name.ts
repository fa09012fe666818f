/** A place in a sheet; the first column and the first row are 1. */
export interface CellPlace {
  column: number
  row: number
}

/** The last place of a sheet, `XFD1048576`. */
export const lastPlace: CellPlace = { column: 16_384, row: 1_048_576 }

/** The place of a cell's name such as `B7` (in capitals, without `$`); undefined where no sheet has it. */
export function cellPlace(name: string): CellPlace | undefined {
  const parts = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(name)
  if (parts === null) return undefined
  const column = columnNumber(parts[1] ?? '')
  const row = Number(parts[2])
  return column > lastPlace.column || row > lastPlace.row ? undefined : { column, row }
}

/** The name of a place, such as `B7`. */
export function cellName({ column, row }: CellPlace): string {
  let text = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    text = String.fromCharCode(65 + ((left - 1) % 26)) + text
  return `${text}${row}`
}

/** The number of a column's letters: 1 for `A`, 27 for `AA`. */
export function columnNumber(letters: string): number {
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column
}
