import { planOf } from '../core/index.ts'
import type { RunPreview } from '../engine/index.ts'
import { countText, plural, printableLine } from '../report/index.ts'
import {
  assumedVariance,
  plannedDetectable,
  requiredTasks,
  studentTQuantile,
  taskVariance,
} from '../stats/index.ts'

type Rewards = RunPreview['environment']['rewards']

/** Group rewards that so few repeats leave without a score. */
export function groupNotes(rewards: Rewards, repeats: number): string[] {
  if (repeats >= 2) return []
  return Object.entries(rewards)
    .filter(([, { kind }]) => kind === 'group')
    .map(
      ([name, { weight }]) =>
        `Note: group reward "${printableLine(name, 60)}" needs -r 2 or more${weight === 0 ? '' : '; without it no order is scored'}.`,
    )
}

const points = (share: number): string => {
  const value = 100 * share
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} points`
}

/** Half of the 95 % interval of a success rate near one half that such a plan would give. */
function halfWidth(tasks: number, repeats: number): number {
  const variance = taskVariance({ kind: 'constant', ...assumedVariance.constant, repeats })
  return Math.min(0.5, studentTQuantile(0.975, tasks - 1) * Math.sqrt(variance / tasks))
}

/** What a plan can show of a success rate, before anything is known of its tasks: in one run, and between two. */
export function precisionText({ tasks, repeats }: { tasks: number; repeats: number }): string {
  const plan = `${plural(tasks, 'task')} x ${countText(repeats)}`
  if (tasks === 0) return 'nothing is ordered'
  if (tasks === 1) return `${plan} say nothing of other tasks: one task does not show how tasks differ`
  const change = plannedDetectable({ tasks, repeats }).value
  const shown =
    change === null
      ? 'can hardly show any change between two such runs'
      : `can show a change of about ${points(change)} between two such runs (in 4 of 5 cases, at 5 %)`
  return `${plan} ${shown}; the success rate of one is known to about ± ${points(halfWidth(tasks, repeats))} (95 %, new tasks)`
}

/** How many tasks it takes to see a change of a success rate, for the repeats that are planned and for others. */
export function detectText(change: number, repeats: number): string {
  const other = repeats === 1 ? 4 : 1
  const needed = (many: number) => {
    const { value } = requiredTasks(
      change,
      { kind: 'paired', ...assumedVariance.paired, repeats: many },
      { largest: 1 },
    )
    return value === null ? 'no number of tasks' : `about ${plural(roughly(value), 'task')}`
  }
  const times = (many: number) => (many === 1 ? 'once each' : `${many} times each`)
  return `To see a change of ${points(change)} takes ${needed(repeats)} ${times(repeats)}, or ${needed(other)} ${times(other)}.`
}

/** A number of tasks is known no better than the variances that it rests on: two digits. */
function roughly(value: number): number {
  return value < 100 ? value : Number(value.toPrecision(2))
}

/** What a plan can show, as notes. Only where there is a success rate to be known. */
export function precisionNotes(
  plan: { tasks: number; repeats: number },
  { success, detect }: { success: boolean; detect?: number | undefined },
): string[] {
  if (!success || plan.tasks === 0) return []
  const notes = [`Note: ${precisionText(plan)}.`]
  if (detect !== undefined) notes.push(`Note: ${detectText(detect, plan.repeats)}`)
  return notes
}

/** What a new plan has less of than was asked for. `orders` are those that it has. */
export function newPlanNotes(
  { tasks, split }: { tasks?: number; split?: string },
  { orders, repeats }: { orders: number; repeats: number },
): string[] {
  if (tasks === 0) return ['Note: -n 0 orders nothing.']
  const found = orders / repeats
  return tasks === undefined || found >= tasks ? [] : [onlyNote(tasks, found, split)]
}

function onlyNote(asked: number, found: number, split: string | undefined): string {
  const where = split === undefined ? '' : ` in split "${printableLine(split, 60)}"`
  return `Note: -n ${asked}: there ${found === 1 ? 'is' : 'are'} only ${plural(found, 'task')}${where}.`
}

/** What a plan holds of one split, or of all. */
export interface PlanSize {
  orders: number
  tasks: number
  /** Fewest orders of a task. */
  repeats: number
  split: string | undefined
}

/** Counts a plan from its file. Without `split` it is the one of the last request, which a new one inherits. */
export async function planSize(dir: string, split?: string): Promise<PlanSize> {
  const counts = new Map<string, { split: string; orders: number }>()
  let orders = 0
  let asked = split
  for await (const record of planOf(dir)) {
    if (record.schema === 'quintain.request') {
      asked = split ?? record.split
      continue
    }
    orders++
    const found = counts.get(record.task)
    if (found === undefined) counts.set(record.task, { split: record.split, orders: 1 })
    else found.orders++
  }
  const sizes = [...counts.values()].filter((task) => asked === undefined || task.split === asked)
  const repeats = sizes.reduce((least, task) => Math.min(least, task.orders), Number.POSITIVE_INFINITY)
  return { orders, tasks: sizes.length, repeats: sizes.length === 0 ? 0 : repeats, split: asked }
}

/** What asking for more came to, where that is less than was asked for, or nothing. */
export function extendedPlanNotes(
  { tasks, repeats }: { tasks?: number; repeats?: number },
  before: PlanSize,
  after: PlanSize,
): string[] {
  const notes: string[] = []
  const same = after.orders === before.orders
  if (tasks !== undefined) {
    if (tasks > after.tasks) notes.push(onlyNote(tasks, after.tasks, after.split))
    else if (tasks < before.tasks || (tasks === before.tasks && repeats === undefined && same)) {
      notes.push(`Note: -n ${tasks}: the run already has ${plural(before.tasks, 'task')}; none is taken out.`)
    }
  }
  if (repeats !== undefined && before.repeats > 0) {
    if (repeats < before.repeats || (repeats === before.repeats && same)) {
      notes.push(
        `Note: -r ${repeats}: the run already has ${countText(before.repeats)} of each task; -r says how many there are to be in all.`,
      )
    }
  }
  return notes
}
