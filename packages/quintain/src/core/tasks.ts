import { z } from 'zod'
import { type Duration, toMs } from './duration.ts'
import type { TaskInput } from './environment.ts'
import { QuintainError } from './errors.ts'
import { message } from './message.ts'
import { didYouMean, nearest } from './suggest.ts'

/** Something wrong with a task: which one, counted from zero, and where in it. */
export interface TaskProblem {
  row: number
  /** Path inside the task, such as `secret.answer`; empty for the task itself. */
  path: string
  message: string
}

const duration = z.custom<Duration>((value) => {
  try {
    return toMs(value as Duration) > 0
  } catch {
    return false
  }
}, 'expected "30s", "2m" or milliseconds, above zero')
/** Infinity lifts a limit. */
const budget = z.custom<number>(
  (value) => typeof value === 'number' && value > 0,
  'expected a number above zero',
)

const limitsShape = {
  turns: budget,
  tokens: budget,
  costUsd: budget,
  wall: duration,
  tool: duration,
  grade: duration,
}

const taskShape = {
  id: z.string().min(1, 'must not be empty'),
  split: z.string().min(1, 'must not be empty').optional(),
  prompt: z.union([z.string(), z.array(message)]).optional(),
  data: z.unknown().optional(),
  secret: z.unknown().optional(),
  limits: z.object(limitsShape).partial().optional(),
  tags: z.array(z.string()).optional(),
  source: z.string().optional(),
  licence: z.string().optional(),
  canary: z.string().optional(),
} satisfies Record<keyof TaskInput, z.ZodType>

const taskSchema = z.object(taskShape)
const taskFields = Object.keys(taskShape)
const limitFields = Object.keys(limitsShape)

/** What is wrong with a task as its author wrote it: wrong types, and fields that the contract does not know. */
export function taskProblems(task: unknown, row: number): TaskProblem[] {
  const problems: TaskProblem[] = []
  const checked = taskSchema.safeParse(task)
  for (const issue of checked.error?.issues ?? []) {
    problems.push({ row, path: issue.path.join('.'), message: issue.message })
  }
  if (typeof task !== 'object' || task === null) return problems
  const refuseUnknown = (value: object, known: string[], under: string) => {
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue
      problems.push({
        row,
        path: `${under}${key}`,
        message: `unknown field "${key}"${under === '' && nearest(key, known) === undefined ? '; put what is your own into `data`, or into `secret` if the agent may not see it.' : didYouMean(key, known)}`,
      })
    }
  }
  refuseUnknown(task, taskFields, '')
  const { limits } = task as { limits?: unknown }
  if (typeof limits === 'object' && limits !== null) refuseUnknown(limits, limitFields, 'limits.')
  return problems
}

const shownProblems = 20

/** Throws `tasks_invalid` with all problems, when there are any. */
export function refuseProblems(problems: readonly TaskProblem[], where: string): void {
  if (problems.length === 0) return
  const lines = problems
    .slice(0, shownProblems)
    .map(({ row, path, message: text }) => `  task ${row}${path === '' ? '' : `, ${path}`}: ${text}`)
  if (problems.length > shownProblems) lines.push(`  … and ${problems.length - shownProblems} more`)
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new QuintainError(
    'tasks_invalid',
    `${where}: ${count} in its tasks (counted from 0):\n${lines.join('\n')}`,
    {
      facts: { where, problems },
    },
  )
}

/**
 * Throws `duplicate_task_id` when two tasks have one id. `facts.id` is the first such id, `facts.positions` are the
 * tasks that have it, and `facts.duplicates` holds the positions of every one.
 */
export function refuseDuplicateIds(tasks: Iterable<{ id: string }>, where: string): void {
  const positions = new Map<string, number[]>()
  let position = 0
  let clash = false
  for (const { id } of tasks) {
    const known = positions.get(id)
    if (known === undefined) positions.set(id, [position])
    else {
      known.push(position)
      clash = true
    }
    position += 1
  }
  if (!clash) return
  const duplicates = [...positions].filter(([, at]) => at.length > 1)
  const [id, at] = duplicates[0]!
  const others = duplicates.length > 1 ? `, and so have ${duplicates.length - 1} other ids` : ''
  throw new QuintainError(
    'duplicate_task_id',
    `${where}: tasks ${at.join(', ')} (counted from 0) have one id, ${JSON.stringify(id)}${others}. Ids name results; make each its own.`,
    { facts: { where, id, positions: at, duplicates: Object.fromEntries(duplicates) } },
  )
}

export interface TaskSelection {
  /** Only these ids, in the order of the taskset. */
  ids?: readonly (string | number)[]
  /** Only this split. */
  split?: string
  /** At most so many, after the rest. Zero is zero. */
  limit?: number
}

/**
 * The tasks that were asked for. An id that no task has is a warning, `zz not found`, since a slip in a selection
 * would otherwise run fewer tasks in silence.
 *
 * Throws `usage` for a limit that is no count.
 */
export function selectTasks<Some extends { id: string; split?: string | undefined }>(
  tasks: readonly Some[],
  selection: TaskSelection,
): { tasks: Some[]; warnings: string[] } {
  const { limit, split } = selection
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0)) {
    throw new QuintainError('usage', `limit is ${limit}; give a whole number from 0.`, { facts: { limit } })
  }
  let selected = [...tasks]
  const warnings: string[] = []
  if (split !== undefined) selected = selected.filter((task) => (task.split ?? 'test') === split)
  if (selection.ids !== undefined) {
    const wanted = new Set(selection.ids.map(String))
    selected = selected.filter((task) => wanted.has(task.id))
    const found = new Set(selected.map((task) => task.id))
    for (const id of wanted) if (!found.has(id)) warnings.push(`${id} not found`)
  }
  return { tasks: limit === undefined ? selected : selected.slice(0, limit), warnings }
}
