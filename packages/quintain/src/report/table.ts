import { plainStyle, type Style } from './style.ts'

/** Columns as wide as they need, two spaces apart. Cells must be printable already. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style = plainStyle,
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[style.dim(line(head)), ...rows.map(line)].join('\n')}\n`
}
