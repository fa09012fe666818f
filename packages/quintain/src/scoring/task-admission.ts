import { daysIn, sameDay } from './calendar.ts'

/** What was found when a task's gold solution and an agent that does nothing were run. */
export interface TaskTrial {
  /** Whether a step of the gold solution failed. */
  goldFailed?: boolean
  /** Reward of the gold solution. */
  goldReward?: number | null
  /** Whether the gold solution succeeded, each time that it was run. */
  goldRuns?: readonly boolean[]
  /** Reward of an agent that does nothing. */
  nullReward?: number | null
  /** Rewards from here on are a success; 1 when absent. */
  successAt?: number
}

export type TaskRefusal = 'gold_action_failed' | 'gold_fails' | 'gold_flaky' | 'null_agent_passes'

/**
 * Whether a task may be used: its gold solution runs without an error and succeeds, and doing nothing does not. A gold
 * action that fails leaves the first state as the goal, which doing nothing then reaches (as in tau2-bench, where
 * such errors are only logged). One that succeeds on some runs only measures the
 * weather. What was not tried is not judged.
 */
export function admitTask({
  goldFailed = false,
  goldReward,
  goldRuns = [],
  nullReward,
  successAt = 1,
}: TaskTrial): {
  valid: boolean
  reason: TaskRefusal | null
} {
  const succeeds = (reward: number | null) => reward !== null && reward >= successAt - 1e-6
  const passed = goldRuns.filter(Boolean).length
  const isNever = goldRuns.length > 0 && passed === 0
  const reason = goldFailed
    ? 'gold_action_failed'
    : isNever || (goldReward !== undefined && !succeeds(goldReward))
      ? 'gold_fails'
      : passed < goldRuns.length
        ? 'gold_flaky'
        : nullReward !== undefined && succeeds(nullReward)
          ? 'null_agent_passes'
          : null
  return { valid: reason === null, reason }
}

export type TaskFinding = 'date_mismatch'

/**
 * What a task's words say and its gold actions do not: a day in the text that no argument has, where the
 * arguments have days. Empty when the two agree.
 */
export function lintTask(task: { goldActions: readonly unknown[]; texts: readonly string[] }): TaskFinding[] {
  const inGold = textsIn(task.goldActions).flatMap((text) => daysIn(text).map(({ date }) => date))
  const inText = task.texts.flatMap((text) => daysIn(text).map(({ date }) => date))
  const astray = inText.some((date) => !inGold.some((gold) => sameDay(gold, date)))
  return inGold.length > 0 && astray ? ['date_mismatch'] : []
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
