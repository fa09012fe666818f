import type { PageIndex } from './page-data.ts'

/** Which rollouts the list shows. Absent is all. */
export interface RowFilter {
  /** Places in `rowKinds`, `endings` and `tasks`. */
  kind?: number | undefined
  ending?: number | undefined
  task?: number | undefined
  /** Words that must all stand in the order's name or in how it ended, or rows in whose messages something was found. */
  text?: string
  found?: ReadonlySet<number> | undefined
}

export const sortNames = ['plan', 'lowest reward', 'longest', 'most turns', 'dearest'] as const
export type SortName = (typeof sortNames)[number]

/** `task#repeat`, as the command line names an order. */
export function orderName({ tasks, rows }: PageIndex, row: number): string {
  return `${tasks[rows.task[row]!]}#${rows.repeat[row]}`
}

/** Rows that match, in plan order. */
export function filterRows(index: PageIndex, { kind, ending, task, text = '', found }: RowFilter): number[] {
  const { rows, endings } = index
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const matching: number[] = []
  for (let row = 0; row < rows.task.length; row++) {
    if (kind !== undefined && rows.kind[row] !== kind) continue
    if (ending !== undefined && rows.ending[row] !== ending) continue
    if (task !== undefined && rows.task[row] !== task) continue
    if (found !== undefined) {
      if (!found.has(row)) continue
    } else if (words.length > 0) {
      const name = `${orderName(index, row)} ${endings[rows.ending[row]!] ?? ''}`.toLowerCase()
      if (!words.every((word) => name.includes(word))) continue
    }
    matching.push(row)
  }
  return matching
}

/** The same rows by what is asked for; equal ones stay in plan order, and unknown values go last. */
export function sortRows({ rows }: PageIndex, matching: readonly number[], by: SortName): number[] {
  if (by === 'plan') return [...matching]
  const sign = by === 'lowest reward' ? 1 : -1
  const column = {
    'lowest reward': rows.reward,
    longest: rows.wallMs,
    'most turns': rows.turns,
    dearest: rows.usd,
  }[by]
  return matching.toSorted((a, b) => {
    const [x, y] = [column[a] ?? null, column[b] ?? null]
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b
    return sign * (x - y) || a - b
  })
}
