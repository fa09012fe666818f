import { createRng, QuintainError } from '../../core/index.ts'
import type { TaskSummary } from '../../engine/index.ts'

/** Tasks on which scripts are chosen, and others on which those that were chosen are tried again. */
export interface ProbeTasks {
  search: TaskSummary[]
  test: TaskSummary[]
}

const mostSearched = 6
const mostTested = 24
/** With fewer tasks than this, the same ones are for both. */
const fewest = 6

/** The split that is probed. Throws `usage` for one that is not there, and `no_tasks`. */
export function splitOf(tasks: readonly TaskSummary[], wanted: string | undefined): string {
  const splits = [...new Set(tasks.map(({ split }) => split))]
  const [first] = splits
  if (first === undefined) throw new QuintainError('no_tasks', 'The environment has no tasks to probe.')
  if (wanted === undefined) return splits.includes('train') ? 'train' : first
  if (splits.includes(wanted)) return wanted
  throw new QuintainError('usage', `There is no split "${wanted}". There are ${splits.join(', ')}.`, {
    facts: { split: wanted, splits },
  })
}

/** Some tasks of a split by chance; a third to search on. */
export function tasksOf(tasks: readonly TaskSummary[], split: string, seed: string): ProbeTasks {
  const drawn = createRng(`probe/${seed}`).shuffle(tasks.filter((task) => task.split === split))
  if (drawn.length < fewest) return { search: drawn, test: drawn }
  const search = Math.min(mostSearched, Math.floor(drawn.length / 3))
  return { search: drawn.slice(0, search), test: drawn.slice(search, search + mostTested) }
}
