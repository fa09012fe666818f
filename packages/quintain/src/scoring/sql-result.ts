import { canonicalState, stateText } from './canonical-state.ts'
import { maximumMatching } from './maximum-matching.ts'

export interface SqlResultOptions {
  /** Compare the rows in order: for a query whose ORDER BY fixes it. Off when absent. */
  ordered?: boolean
  /** Numbers within so much are equal, absolutely; 0 when absent. */
  tolerance?: number
}

type Row = readonly unknown[]

/**
 * Whether two query results are equal. Rows are a multiset: a row that comes twice must come twice, and order counts
 * only when asked for. Columns are compared by place, and values as what they are: 1 equals 1.0 and neither "1" nor
 * null; a Date is its instant, a Uint8Array its bytes. With a tolerance, results are equal when each row of one can be
 * given a row of the other that is near it, all of them at once.
 *
 * Throws `not_json`, as `stateDiff` does, for a cell that cannot be compared.
 */
export function sqlResultEqual(
  expected: readonly Row[],
  actual: readonly Row[],
  { ordered = false, tolerance = 0 }: SqlResultOptions = {},
): boolean {
  if (tolerance > 0) return nearResults(expected.map(readRow), actual.map(readRow), ordered, tolerance)
  const [a, b] = [expected.map(textOfRow), actual.map(textOfRow)]
  if (!ordered) {
    a.sort()
    b.sort()
  }
  return a.length === b.length && a.every((row, i) => row === b[i])
}

function textOfRow(row: Row, at: number): string {
  return stateText(canonicalState(row, [], [String(at)]))
}

/** A row as its numbers, and all else of it with the places of the numbers as a text. */
interface ReadRow {
  numbers: number[]
  rest: string
}

function readRow(row: Row, at: number): ReadRow {
  const numbers: number[] = []
  const rest = row.map((cell, column) => {
    const plain = canonicalState(cell, [], [String(at), String(column)])
    if (typeof plain !== 'number') return [plain]
    numbers.push(plain)
    return []
  })
  return { numbers, rest: stateText(rest) }
}

function nearResults(
  expected: readonly ReadRow[],
  actual: readonly ReadRow[],
  ordered: boolean,
  tolerance: number,
): boolean {
  if (expected.length !== actual.length) return false
  if (ordered) return expected.every((row, i) => near(row, actual[i]!, tolerance))
  const [a, b] = [byRest(expected), byRest(actual)]
  if (a.size !== b.size) return false
  for (const [rest, rows] of a) {
    const others = b.get(rest)
    if (others === undefined || !nearBags(rows, others, tolerance)) return false
  }
  return true
}

/** Rows that agree in all but their numbers, each group by its first number. */
function byRest(rows: readonly ReadRow[]): Map<string, ReadRow[]> {
  const groups = new Map<string, ReadRow[]>()
  for (const row of rows) {
    const group = groups.get(row.rest)
    if (group === undefined) groups.set(row.rest, [row])
    else group.push(row)
  }
  for (const group of groups.values()) group.sort(compareNumbers)
  return groups
}

function compareNumbers({ numbers: a }: ReadRow, { numbers: b }: ReadRow): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return 0
}

function nearBags(rows: readonly ReadRow[], others: readonly ReadRow[], tolerance: number): boolean {
  if (rows.length !== others.length) return false
  // Of rows with one number, sorted, it is this pairing or none. Of rows with more another may exist.
  if (rows.every((row, i) => near(row, others[i]!, tolerance))) return true
  if (rows[0]!.numbers.length < 2) return false
  const pairs = maximumMatching(rows.length, others.length, (row) => nearTo(rows[row]!, others, tolerance))
  return pairs.every((other) => other !== undefined)
}

/** Places of the rows that are near one, in rows that are sorted. */
function* nearTo(row: ReadRow, others: readonly ReadRow[], tolerance: number): Generator<number> {
  const first = (other: number) => others[other]!.numbers[0]!
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (row.numbers[0]! - first(middle) > tolerance) low = middle + 1
    else high = middle
  }
  for (let i = low; i < others.length && first(i) - row.numbers[0]! <= tolerance; i++)
    if (near(row, others[i]!, tolerance)) yield i
}

function near(
  { numbers: a, rest }: ReadRow,
  { numbers: b, rest: other }: ReadRow,
  tolerance: number,
): boolean {
  return rest === other && a.every((number, i) => Math.abs(number - b[i]!) <= tolerance)
}
