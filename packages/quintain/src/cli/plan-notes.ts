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
  const shown = value < 10 ? Number(value.toPrecision(2)) : Math.round(value)
  return `${shown} ${shown === 1 ? 'point' : 'points'}`
}

/** Half of the 95 % interval of a success rate near one half that such a plan would give. */
function halfWidth(tasks: number, repeats: number): number {
  const variance = taskVariance({ kind: 'constant', ...assumedVariance.constant, repeats })
  return Math.min(0.5, studentTQuantile(0.975, tasks - 1) * Math.sqrt(variance / tasks))
}

interface PlanShape {
  tasks: number
  repeats: number
}

/** What a plan can show of a success rate, before anything is known of its tasks; shares, and null where nothing can be said. */
export interface PlanPrecision extends PlanShape {
  /** The smallest change between two such runs that is found in 4 of 5 cases, at 5 %. */
  detectable: number | null
  /** Half of the 95 % interval of the success rate of one, over new tasks. */
  halfWidth: number | null
}

/** What a plan can show: in one run, and between two. */
export function precisionOf({ tasks, repeats }: PlanShape): PlanPrecision {
  if (tasks < 2) return { tasks, repeats, detectable: null, halfWidth: null }
  const detectable = plannedDetectable({ tasks, repeats }).value
  return { tasks, repeats, detectable, halfWidth: halfWidth(tasks, repeats) }
}

/** `precisionOf` in words. */
export function precisionText(shape: PlanShape): string {
  const { tasks, repeats, detectable, halfWidth } = precisionOf(shape)
  const plan = `${plural(tasks, 'task')} x ${countText(repeats)}`
  if (tasks === 0) return 'nothing is ordered'
  if (halfWidth === null) return `${plan} say nothing of other tasks: one task does not show how tasks differ`
  const shown =
    detectable === null
      ? 'can hardly show any change between two such runs'
      : `can show a change of about ${points(detectable)} between two such runs (in 4 of 5 cases, at 5 %)`
  return `${plan} ${shown}; the success rate of one is known to about ± ${points(halfWidth)} (95 %, new tasks)`
}

/** A change of the success rate that somebody wants to see: as a share, and as it was typed. */
export interface WantedChange {
  share: number
  text: string
}

/** What it takes to see a change. */
export interface Detection {
  /** As a share: 0.05 is five points. */
  change: number
  /** Tasks by repeats, for those that are planned and for others; null where no number of tasks is enough. */
  takes: { repeats: number; tasks: number | null }[]
}

/** How many tasks it takes to see a change of a success rate, for the repeats that are planned and for others. */
export function detectionOf(change: number, repeats: number): Detection {
  const takes = [repeats, repeats === 1 ? 4 : 1].map((many) => {
    const needed = requiredTasks(
      change,
      { kind: 'paired', ...assumedVariance.paired, repeats: many },
      { largest: 1 },
    )
    return { repeats: many, tasks: needed.value }
  })
  return { change, takes }
}

/** `detectionOf` in words, with what was understood where what was typed can be read in two ways. */
export function detectText({ share, text }: WantedChange, repeats: number): string {
  const [planned, other] = detectionOf(share, repeats).takes.map(({ repeats: many, tasks }) => {
    const needed = tasks === null ? 'no number of tasks' : `about ${plural(roughly(tasks), 'task')}`
    return `${needed} ${many === 1 ? 'once each' : `${many} times each`}`
  })
  const typed = text.trim()
  const twoWays = !typed.includes('%') && Number(typed) < 1
  const understood = twoWays ? ` (${typed} is a share; ${points(share / 100)} would be ${typed}%)` : ''
  return `To see a change of ${points(share)}${understood} takes ${planned}, or ${other}.`
}

/** A number of tasks is known no better than the variances that it rests on: two digits. */
function roughly(value: number): number {
  return value < 100 ? value : Number(value.toPrecision(2))
}

/** What a plan can show, as notes. Only where there is a success rate to be known. */
export function precisionNotes(
  plan: PlanShape,
  { success, detect }: { success: boolean; detect?: WantedChange | undefined },
): string[] {
  if (!success || plan.tasks === 0) return []
  return [`Note: ${precisionText(plan)}.`, ...detectNotes(plan, { success, detect })]
}

/** The answer to `--detect`, which was asked for and so is said whatever else is not. */
export function detectNotes(
  { repeats }: PlanShape,
  { success, detect }: { success: boolean; detect?: WantedChange | undefined },
): string[] {
  if (detect === undefined) return []
  if (!success)
    return ['Note: --detect is of a success rate, and this environment does not say what success is.']
  return [`Note: ${detectText(detect, repeats)}`]
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
