import { canonicalState, stateText } from './canonical-state.ts'

export interface SqlResultOptions {
  /** Compare the rows in order: for a query whose ORDER BY fixes it. Off when absent. */
  ordered?: boolean
  /** Numbers within so much are equal, absolutely; 0 when absent. With it rows are compared one by one, sorted. */
  tolerance?: number
}

type Row = readonly unknown[]

/**
 * Whether two query results are equal. Rows are a multiset: a row that comes twice must come twice, and order counts
 * only when asked for. Columns are compared by place, and values as what they are: 1 equals 1.0 and neither "1" nor null.
 */
export function sqlResultEqual(
  expected: readonly Row[],
  actual: readonly Row[],
  { ordered = false, tolerance = 0 }: SqlResultOptions = {},
): boolean {
  if (expected.length !== actual.length) return false
  if (tolerance > 0) {
    const [a, b] = ordered ? [expected, actual] : [sorted(expected), sorted(actual)]
    return a.every((row, i) => nearRow(row, b[i]!, tolerance))
  }
  const [a, b] = [expected.map(textOfRow), actual.map(textOfRow)]
  if (!ordered) {
    a.sort()
    b.sort()
  }
  return a.every((row, i) => row === b[i])
}

function textOfRow(row: Row): string {
  return stateText(canonicalState(row, []))
}

/** By value, so that rows that are nearly equal come to stand at the same place. */
function sorted(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compareCells(a[i], b[i])
      if (order !== 0) return order
    }
    return a.length - b.length
  })
}

function compareCells(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [x, y] = [textOfRow([a]), textOfRow([b])]
  return x < y ? -1 : x > y ? 1 : 0
}

function nearRow(a: Row, b: Row, tolerance: number): boolean {
  return (
    a.length === b.length &&
    a.every((cell, i) => {
      const other = b[i]
      if (typeof cell === 'number' && typeof other === 'number') return Math.abs(cell - other) <= tolerance
      return textOfRow([cell]) === textOfRow([other])
    })
  )
}
