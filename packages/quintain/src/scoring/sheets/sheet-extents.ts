import { type CellPlace, cellPlace } from './cell-name.ts'

/** The last row and the last column that names of cells such as `B7` and `Data!B7` have, by sheet; undefined is the formula's own. */
export function sheetExtents(names: readonly string[]): Map<string | undefined, CellPlace> {
  const extents = new Map<string | undefined, CellPlace>()
  for (const key of names) {
    const mark = key.lastIndexOf('!')
    const place = cellPlace(key.slice(mark + 1))
    if (place === undefined) continue
    const sheet = mark < 0 ? undefined : key.slice(0, mark)
    const { row, column } = extents.get(sheet) ?? { row: 0, column: 0 }
    extents.set(sheet, { row: Math.max(row, place.row), column: Math.max(column, place.column) })
  }
  return extents
}
