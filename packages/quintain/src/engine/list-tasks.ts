import { QuintainError } from '../core/index.ts'
import type { TaskQuery } from './protocol.ts'
import { summaryOf, type TaskSummary, type Taskset } from './taskset.ts'

/** Tasks that are read where nobody says how many, or in a row without one that was asked for. */
const mostRead = 500_000
/** Splits that a refusal names. */
const mostSplits = 20

/**
 * The tasks of a query in order, without anything secret. Never reads on for ever: of an iterator nobody knows whether it
 * ends, and of a generated taskset it may be known that it does not. Throws `tasks_invalid` where that is in the
 * way, and `no_tasks` or `unknown_task` where what was asked for does not come.
 */
export async function* listTasks(
  taskset: Taskset,
  { split, ids, limit }: TaskQuery,
  most: number = mostRead,
): AsyncGenerator<TaskSummary, void, undefined> {
  if (limit === 0) return
  const wanted = ids === undefined ? undefined : new Set(ids)
  const bounded = limit !== undefined || wanted !== undefined
  if (taskset.size === Number.POSITIVE_INFINITY && !bounded) throw endless('The tasks have no end')
  const ends = Number.isFinite(taskset.size ?? Number.POSITIVE_INFINITY)
  const splits = new Set<string>()
  let place = 0
  let given = 0
  let since = 0
  for await (const task of taskset.list()) {
    if (!bounded && place >= most)
      throw endless(`There are more than ${most} tasks${ends ? '' : ', and perhaps no end of them'}`)
    if (splits.size < mostSplits) splits.add(task.split)
    const asked =
      (split === undefined || task.split === split) && (wanted === undefined || wanted.delete(task.id))
    if (asked) {
      yield summaryOf(task, place)
      since = 0
      if (++given === limit || wanted?.size === 0) return
    } else if (bounded && ++since >= most && !ends) {
      throw noneComes({ split, wanted, since, splits })
    }
    place++
  }
}

function endless(what: string): QuintainError {
  return new QuintainError(
    'tasks_invalid',
    `${what}; say how many are meant (-n, serve --tasks, or tasks: 30).`,
  )
}

/** Of tasks that may have no end, the last so many were none of those that were asked for. */
function noneComes({
  split,
  wanted,
  since,
  splits,
}: {
  split: string | undefined
  wanted: ReadonlySet<string> | undefined
  since: number
  splits: ReadonlySet<string>
}): QuintainError {
  const [id] = wanted ?? []
  const asked = [
    ...(split === undefined ? [] : [`of split "${split}"`]),
    ...(id === undefined ? [] : [`"${id}"`]),
  ]
  return new QuintainError(
    id === undefined ? 'no_tasks' : 'unknown_task',
    `${since} tasks in a row were read and none is ${asked.join(' and ')}, and perhaps there is no end of them; ask for what there is. Splits that were seen: ${[...splits].join(', ')}.`,
    { facts: { split, id } },
  )
}
