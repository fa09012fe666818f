import { type PageIndex, rowKinds } from './page-data.ts'

/** What a task's orders came to. */
export interface TaskCell {
  task: number
  orders: number
  scored: number
  successes: number
  faulted: number
  unscored: number
  /** Share of successes of the scored orders, or their mean reward where success is not declared; null without any. */
  value: number | null
}

/** A cell for every task: tasks without a score first, then the lowest value first. */
export function taskCells({ tasks, rows, success }: PageIndex): TaskCell[] {
  const cells = tasks.map(
    (_name, task): TaskCell => ({
      task,
      orders: 0,
      scored: 0,
      successes: 0,
      faulted: 0,
      unscored: 0,
      value: null,
    }),
  )
  const sums = new Float64Array(tasks.length)
  for (let row = 0; row < rows.task.length; row++) {
    const cell = cells[rows.task[row]!]!
    const kind = rowKinds[rows.kind[row]!]!
    cell.orders++
    if (kind === 'faulted') cell.faulted++
    else if (kind === 'unscored') cell.unscored++
    else if (kind === 'success' || kind === 'failure' || (kind === 'scored' && !success)) {
      cell.scored++
      if (kind === 'success') cell.successes++
      sums[cell.task]! += success ? Number(kind === 'success') : (rows.reward[row] ?? 0)
    }
  }
  for (const cell of cells) if (cell.scored > 0) cell.value = sums[cell.task]! / cell.scored
  return cells.sort((a, b) => {
    if (a.value === null || b.value === null)
      return Number(a.value !== null) - Number(b.value !== null) || a.task - b.task
    return a.value - b.value || a.task - b.task
  })
}

/** Steps of colour from the lowest to the highest value. */
export const shades = 11

/** The step of a value on the scale of all; -1 for none. Shares of successes are on a scale from 0 to 1. */
export function shadeOf(value: number | null, [low, high]: readonly [number, number]): number {
  if (value === null) return -1
  const place = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 1
  // The ends are for those that always or never succeed.
  if (place <= 0) return 0
  if (place >= 1) return shades - 1
  return Math.min(shades - 2, Math.max(1, Math.round(place * (shades - 1))))
}

/** Size of a cell with its gap, and how many stand in a line, so that some thousands of tasks fit on a screen. */
export function stripLayout(count: number, width: number): { pitch: number; columns: number; lines: number } {
  for (let pitch = 22; ; pitch--) {
    const columns = Math.max(1, Math.floor(width / pitch))
    const lines = Math.ceil(count / columns)
    if (pitch === 6 || lines * pitch <= 180) return { pitch, columns, lines }
  }
}
