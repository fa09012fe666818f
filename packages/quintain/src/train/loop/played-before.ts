import { type AttemptRecord, type OrderState, QuintainError } from '../../core/index.ts'
import type { Rollout, RolloutRun, TaskSummary } from '../../engine/index.ts'
import { trainingRows } from '../../rows/index.ts'
import type { StepLine, StepRecord } from '../records.ts'
import { historyOf } from '../training-folder.ts'
import type { OpenGroup, PlayedGroup } from './group-source.ts'
import { type Member, versionsIn } from './member.ts'
import { meanOf } from './step-record.ts'
import type { TaskDraw } from './task-draw.ts'
import { lacking } from './whole-log.ts'

type State = OrderState<AttemptRecord>

/** What a training that is taken up has ordered and played, by the groups of its plan. */
export class PlayedBefore {
  private readonly run: RolloutRun
  private readonly memberOf: (rollout: Rollout) => Member
  private readonly byOrder: ReadonlyMap<string, State>
  /** Orders that a step has consumed or left out, and those that no step is to have again. */
  private readonly done = new Set<string>()

  constructor(run: RolloutRun, lines: readonly StepLine[], memberOf: (rollout: Rollout) => Member) {
    this.run = run
    this.memberOf = memberOf
    this.byOrder = new Map(run.before.map((state) => [state.order.id, state]))
    for (const line of historyOf(lines)) {
      if (line.kind !== 'step') continue
      for (const { orders } of [...line.groups, ...(line.leftGroups ?? [])]) this.take(orders)
    }
    // What broke the learner once would break it again.
    for (const line of lines) {
      if (line.kind !== 'end') continue
      for (const { orders, why } of line.open ?? []) if (why === 'not_finite') this.take(orders)
    }
  }

  /** Groups that were drawn. */
  get drawn(): number {
    return Math.max(0, ...this.run.before.map(({ order }) => placeOf(order.group) + 1))
  }

  /** The groups that a step has learned from, as it had them. Throws `run_corrupt` where one cannot be read. */
  groupsOf({ step, groups }: StepRecord): Promise<PlayedGroup[]> {
    return Promise.all(
      groups.map(async ({ id, task, orders }) => {
        const members = await Promise.all(
          orders.map(async (order) => {
            const state = this.byOrder.get(order)
            if (state?.chosen !== undefined) return this.memberOf(await this.run.read(state))
            throw new QuintainError(
              'run_corrupt',
              `Step ${step} has learned from order ${order}, and what was played of it cannot be read. Begin a new training from the last checkpoint.`,
              { facts: { step, order } },
            )
          }),
        )
        return { id, place: placeOf(id), task, members, oldest: 0 }
      }),
    )
  }

  /** Tells a draw of tasks what it was told after a step. */
  tell({ groups, leftGroups = [] }: StepRecord, draw: TaskDraw): void {
    for (const { task, orders } of [...groups, ...leftGroups]) {
      const successes = orders.flatMap((order) => {
        const { verdict, fault } = this.byOrder.get(order)?.chosen ?? { verdict: null, fault: null }
        return fault !== null || verdict?.success == null ? [] : [Number(verdict.success)]
      })
      draw.saw(task, meanOf(successes))
    }
  }

  /**
   * Groups that no step was given, with what was played of them. Throws `run_corrupt` where weights after `version` have
   * sampled any of it: the step that led to them is in no record.
   */
  async openGroups(version: number): Promise<OpenGroup[]> {
    const tasks = new Map(this.run.tasks.map((task) => [task.id, task]))
    const groups = Map.groupBy(this.run.before, ({ order }) => order.group)
    const open: OpenGroup[] = []
    for (const [id, states] of groups) {
      const missing = states.filter(({ order }) => !this.done.has(order.id))
      if (missing.length === 0) continue
      const ended = await Promise.all(missing.filter(hasEnded).map((state) => this.run.read(state)))
      for (const rollout of ended) await this.checkVersion(rollout, version)
      open.push({
        id,
        place: placeOf(id),
        task: taskIn(tasks, missing[0]!.order.task),
        orders: missing.map(({ order }) => order),
        played: new Map(ended.map((rollout) => [rollout.order.id, rollout])),
        taken: missing.length < states.length,
      })
    }
    return open.sort((a, b) => a.place - b.place)
  }

  private async checkVersion({ order, trajectory, tokens }: Rollout, version: number): Promise<void> {
    const newest = Math.max(0, ...versionsIn(trainingRows(trajectory, { tokens }).rows))
    if (newest <= version) return
    throw await lacking(
      this.run.dir,
      `it ends at ${version} optimiser steps, and order ${order.id} was played by weights of ${newest}`,
    )
  }

  private take(orders: readonly string[]): void {
    for (const order of orders) this.done.add(order)
  }
}

/** Nothing is to be played any more, though its group may still have to be graded. */
function hasEnded({ status, chosen }: State): boolean {
  return (
    status === 'scored' ||
    status === 'unscored' ||
    status === 'faulted' ||
    chosen?.verdict?.pending === 'group'
  )
}

/** Place in the draw of a group by its id. */
function placeOf(group: string): number {
  return Number(group.slice(1))
}

function taskIn(tasks: ReadonlyMap<string, TaskSummary>, id: string): TaskSummary {
  const task = tasks.get(id)
  if (task !== undefined) return task
  throw new QuintainError(
    'run_mismatch',
    `Task ${id}, of which rollouts were ordered, is not there any more.`,
    {
      facts: { task: id },
    },
  )
}
