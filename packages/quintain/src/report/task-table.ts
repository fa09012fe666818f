import { type Folded, foldRun } from '../core/index.ts'
import { wilsonInterval } from '../stats/index.ts'
import { plural, scoreText } from './number-text.ts'
import { printableLine } from './printable.ts'
import { plainStyle, type Style } from './style.ts'
import { formatTable } from './table.ts'

/** What came of the orders of one task. */
export interface TaskOutcome {
  task: string
  orders: number
  scored: number
  /** How many scored attempts succeeded; null where the environment does not say what success is. */
  succeeded: number | null
  meanReward: number | null
  /** Of the success rate of this task tried again: Wilson, 95 %. Wide, since one task's tries are few. */
  interval: [number, number] | null
}

/** What came of each task of a run, in the order of its plan. Throws what `foldRun` throws. */
export async function taskOutcomes(dir: string): Promise<TaskOutcome[]> {
  const { manifest, states } = await foldRun<Folded>(dir, ({ verdict, fault, outcome }) => {
    return { verdict, fault, outcome }
  })
  const tasks = new Map<string, { orders: number; rewards: number[]; successes: boolean[] }>()
  for (const { order, status, chosen } of states) {
    const task = tasks.get(order.task) ?? { orders: 0, rewards: [], successes: [] }
    tasks.set(order.task, task)
    task.orders++
    const { reward, success } = chosen?.verdict ?? { reward: null, success: null }
    if (status !== 'scored' || reward === null) continue
    task.rewards.push(reward)
    if (success !== null) task.successes.push(success)
  }
  return [...tasks].map(([task, { orders, rewards, successes }]) => {
    const n = successes.length
    const succeeded = successes.filter(Boolean).length
    return {
      task,
      orders,
      scored: rewards.length,
      succeeded: manifest.environment.success ? succeeded : null,
      meanReward: rewards.length === 0 ? null : rewards.reduce((sum, one) => sum + one, 0) / rewards.length,
      interval: manifest.environment.success && n > 0 ? wilsonInterval(succeeded, n, 0.95) : null,
    }
  })
}

/** The rate of a task; -1 for one without a score, which comes before those that fail. */
function rateOf({ scored, succeeded, meanReward }: TaskOutcome): number {
  if (scored === 0) return -1
  return succeeded === null ? (meanReward ?? -1) : succeeded / scored
}

/** One line per task, the worst first, and what the interval is of. */
export function formatTasks(
  outcomes: readonly TaskOutcome[],
  { style = plainStyle }: { style?: Style } = {},
): string {
  const rows = [...outcomes]
    .sort((a, b) => rateOf(a) - rateOf(b))
    .map((one) => [
      printableLine(one.task, 60),
      `${one.scored} of ${one.orders}`,
      one.succeeded === null ? '' : `${one.succeeded}`,
      one.scored === 0 || one.succeeded === null ? '' : scoreText(one.succeeded / one.scored),
      one.interval === null ? '' : `[${scoreText(one.interval[0])}, ${scoreText(one.interval[1])}]`,
      scoreText(one.meanReward),
    ])
  const table = formatTable(['task', 'scored', 'succeeded', 'rate', '95 %', 'mean reward'], rows, style)
  return `${table}${plural(outcomes.length, 'task')}; the interval is of this task tried again (Wilson)\n`
}
