import { createHash } from 'node:crypto'
import type { Folded, OrderState } from '../../core/index.ts'
import { kindOf } from './read-rows.ts'

/** Trajectories that a reader looks for first. */
function isTelling(state: OrderState<Folded>): boolean {
  const kind = kindOf(state)
  return kind !== 'success' && (kind !== 'scored' || (state.chosen?.verdict?.reward ?? 0) <= 0)
}

/**
 * Rows whose trajectory goes into a page, in the order in which they go as long as there is room: everything that did not
 * succeed first, then the rest; inside each, one of every task before the second of any, tasks in an order that looks
 * random and is the same each time. So a page that cannot hold all holds the failures, and samples the tasks evenly.
 * Orders without an attempt have none.
 */
export function embedOrder(states: readonly OrderState<Folded>[]): number[] {
  const shuffled = new Map<string, string>()
  const rounds = new Map<string, number>()
  const keys: { row: number; rest: number; round: number; task: string }[] = []
  for (const [row, state] of states.entries()) {
    if (state.chosen === undefined) continue
    const { task } = state.order
    const rest = isTelling(state) ? 0 : 1
    const round = rounds.get(`${rest}${task}`) ?? 0
    rounds.set(`${rest}${task}`, round + 1)
    let shuffledTask = shuffled.get(task)
    if (shuffledTask === undefined) {
      shuffledTask = createHash('sha256').update(task).digest('hex').slice(0, 16)
      shuffled.set(task, shuffledTask)
    }
    keys.push({ row, rest, round, task: shuffledTask })
  }
  keys.sort(
    (a, b) =>
      a.rest - b.rest || a.round - b.round || (a.task < b.task ? -1 : a.task > b.task ? 1 : a.row - b.row),
  )
  return keys.map(({ row }) => row)
}
