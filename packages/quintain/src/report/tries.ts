import { clusteredMean, passAtK, passHatK, studentTQuantile, wilsonInterval } from '../stats/index.ts'
import type { TaskScores } from './estimate.ts'
import { plural, scoreText } from './number-text.ts'

/** What k tries at a task come to, over tasks. */
export interface TryEstimate {
  k: number
  value: number
  interval: [number, number] | null
}

/** What repeats of tasks say beside their mean. */
export interface Tries {
  /** Fewest scored attempts of a task: the largest k. */
  least: number
  tasks: number
  /** At least one of k tries succeeds. */
  passAtK: TryEstimate[]
  /** All of k tries succeed. */
  passHatK: TryEstimate[]
  /** Tasks whose scored attempts all succeeded, some of them, none. */
  always: number
  sometimes: number
  never: number
  level: 0.95
  scope: 'new tasks'
  /** How the values and the intervals were found. */
  method: string
}

const level = 0.95

/** All of them up to five, then powers of two and the last. */
function ksUpTo(most: number): number[] {
  const all = Array.from({ length: most }, (_, i) => i + 1)
  return most <= 5 ? all : all.filter((k) => k === most || Math.log2(k) % 1 === 0)
}

/** Wilson's interval of a mean over tasks, at the n that the spread of the tasks is worth: values between 0 and 1 differ less than zeros and ones. */
function intervalOver(values: readonly number[], most: number): [number, number] | null {
  const { mean, stderr } = clusteredMean(values.map((value) => [value]))
  if (mean === null || stderr === null) return null
  const n = values.length
  if (stderr < 1e-12) return wilsonInterval(mean * n, n, level)
  // An SE below that of independent groups of k tries is luck of few tasks, not information.
  const effective = Math.min(most, (mean * (1 - mean)) / (stderr * stderr))
  return wilsonInterval(mean * effective, effective, level, studentTQuantile((1 + level) / 2, n - 1))
}

/**
 * pass@k and pass^k of a run, unbiased, for every k that each task has enough scored attempts for, and how reliable the
 * tasks are. `scores` are successes (1) and failures (0) by task, NaN for what is not scored. Null where some task has
 * fewer than two scored attempts: such a k would speak of other tasks.
 *
 * Sources: Chen et al. (arXiv 2107.03374) for pass@k, Yao et al. (arXiv 2406.12045) for pass^k.
 */
export function triesOf(scores: TaskScores): Tries | null {
  const counts: { n: number; c: number }[] = []
  for (const task of scores) {
    let [n, c] = [0, 0]
    for (let i = 0; i < task.length; i++) {
      const score = task[i]!
      if (Number.isNaN(score)) continue
      n++
      if (score === 1) c++
    }
    counts.push({ n, c })
  }
  if (counts.length === 0) return null
  const least = counts.reduce((fewest, { n }) => Math.min(fewest, n), Number.POSITIVE_INFINITY)
  if (least < 2) return null
  const tries = counts.reduce((sum, { n }) => sum + n, 0)
  const over = (estimator: typeof passAtK): TryEstimate[] =>
    ksUpTo(least).map((k) => {
      const values = counts.map(({ n, c }) => estimator(n, c, k).value ?? 0)
      const value = values.reduce((sum, one) => sum + one, 0) / values.length
      return { k, value, interval: intervalOver(values, tries / k) }
    })
  const always = counts.filter(({ n, c }) => n === c).length
  const never = counts.filter(({ c }) => c === 0).length
  return {
    least,
    tasks: counts.length,
    passAtK: over(passAtK),
    passHatK: over(passHatK),
    always,
    sometimes: counts.length - always - never,
    never,
    level,
    scope: 'new tasks',
    method: 'unbiased per task; Wilson at the effective n over tasks',
  }
}

/** Values with their intervals, k by k: `1: 0.420 [0.321, 0.526], 2: 0.567 [0.451, 0.675]`. */
export function triesText(estimates: readonly TryEstimate[]): string {
  return estimates
    .map(({ k, value, interval }) => {
      const range = interval === null ? '' : ` [${interval.map((bound) => scoreText(bound)).join(', ')}]`
      return `${k}: ${scoreText(value)}${range}`
    })
    .join(', ')
}

/** The small print of pass@k (`any`) and pass^k (`all`). */
export function triesNote({ method, tasks, least, scope }: Tries, which: 'any' | 'all'): string {
  return `${which} of k tries; 95 %, ${method}, ${scope}; n = ${plural(tasks, 'task')} of at least ${plural(least, 'scored try', 'scored tries')}`
}
