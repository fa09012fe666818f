import { plainStyle, type Style } from './style.ts'

/** Between two columns. */
const gap = 2

/**
 * Columns as wide as they need, two spaces apart. With a `width` the widest are made narrower and their cells go on in
 * further lines, so that no line is longer, as far as words allow. Cells must be printable already.
 */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style = plainStyle,
  width = Number.POSITIVE_INFINITY,
): string {
  const widths = fittedWidths([head, ...rows], head.length, width)
  const lines = (cells: readonly string[]) => {
    const columns = widths.map((wide, column) => wordLines(cells[column] ?? '', wide))
    const height = Math.max(1, ...columns.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) =>
      columns
        .map((column, at) => (column[line] ?? '').padEnd(widths[at]!))
        .join(' '.repeat(gap))
        .trimEnd(),
    )
  }
  return `${[...lines(head).map((line) => style.dim(line)), ...rows.flatMap(lines)].join('\n')}\n`
}

/** As wide as the longest cell, the widest made narrower until a line fits; none is narrower than its longest word. */
function fittedWidths(rows: readonly (readonly string[])[], columns: number, most: number): number[] {
  const longest = (lengthOf: (cell: string) => number) =>
    Array.from({ length: columns }, (_, column) =>
      rows.reduce((found, row) => Math.max(found, lengthOf(row[column] ?? '')), 0),
    )
  const widths = longest(({ length }) => length)
  if (most === Number.POSITIVE_INFINITY) return widths
  const least = longest((cell) => Math.max(...cell.split(' ').map(({ length }) => length)))
  let over = widths.reduce((sum, wide) => sum + wide, gap * (columns - 1)) - most
  for (; over > 0; over--) {
    let widest = -1
    for (const [column, wide] of widths.entries())
      if (wide > least[column]! && wide > (widths[widest] ?? 0)) widest = column
    if (widest < 0) break
    widths[widest]!--
  }
  return widths
}

/** A text in lines of whole words. */
function wordLines(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
