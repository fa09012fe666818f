import type { OrderRecord } from '../../core/index.ts'
import type { Rollout, RolloutRun, TaskSummary } from '../../engine/index.ts'
import type { LeftGroup } from '../records.ts'
import type { Member } from './member.ts'
import type { TaskDraw } from './task-draw.ts'
import type { Stragglers } from './train-options.ts'
import { refuseUnread, type Unread } from './unread.ts'

/** A group as it comes to a step. */
export interface PlayedGroup {
  /** `g0`, `g1`, … in the order in which they were drawn. */
  id: string
  place: number
  task: string
  /** Those of its rollouts that are here: all of them, unless the step takes parts of groups. */
  members: Member[]
  /** Optimiser steps of the oldest weights that sampled any of it. */
  oldest: number
}

/** A group that came and is not learned from. */
export interface LeftOut {
  group: PlayedGroup
  why: string
}

/** What a step gets. `stopped`: the training was cancelled while it waited. */
export interface Taken {
  groups: PlayedGroup[]
  left: LeftOut[]
  stopped: boolean
}

export interface GroupSourceOptions {
  run: RolloutRun
  draw: TaskDraw
  /** Groups that a step wants, and rollouts of each. */
  wanted: number
  groupSize: number
  /** How many more to order for a step, of which `kept` are there or on their way and `ordered` were ordered in all. */
  refillOf(counts: { kept: number; ordered: number }): number
  /** Steps that what is learned from may be old; undefined where rollouts stand still while the learner learns. */
  staleness: number | undefined
  /** Optimiser steps in a step. */
  updates: number
  stragglers: Stragglers
  memberOf(rollout: Rollout): Member
  /** Why a whole group is not learned from; undefined where it is. */
  whyLeft(group: PlayedGroup): string | undefined
  /** Optimiser steps that the learner has made. */
  version(): number
}

/** A group that was ordered before, with the orders that are planned and what came of those that were played. */
export interface OpenGroup {
  id: string
  place: number
  task: TaskSummary
  orders: OrderRecord[]
  played: ReadonlyMap<string, Rollout>
  /** A step has taken a part of it. */
  taken: boolean
}

interface InFlight {
  id: string
  place: number
  task: string
  orders: OrderRecord[]
  /** Step after which the weights were that it began with. */
  began: number
  ended: Member[]
  /** A step has taken a part of it; its other rollouts come too late. */
  taken: boolean
}

/**
 * Groups of rollouts for the steps of a training: draws tasks, orders groups as wholes, and has as many in flight as the
 * steps can consume in time. Each group that it ordered is given to a step, learned from or with the reason why not, or is
 * among `open()`.
 */
export class GroupSource {
  private readonly options: GroupSourceOptions
  private readonly inFlight = new Map<string, InFlight>()
  /** Whole, and not given to a step yet, with the reason for which nothing is learned from it. */
  private whole: { group: PlayedGroup; why: string | undefined; began: number }[] = []
  private late: LeftOut[] = []
  private count: number
  /** The step that is gathered for, or that will be next. */
  private step: number
  /** Step after which the weights were that sample now. */
  private weights: number
  /** Groups that this step has left out. */
  private replaced = 0
  private gathering = false
  private stopped = false
  private failure: unknown
  /** Of all that has ended, until something was read; empty at first. */
  private unread: Unread[] | undefined = []
  private wake: (() => void) | undefined
  private readonly plays = new Set<Promise<void>>()

  /** `step`: steps that were made before; `drawn`: groups that were drawn before. */
  constructor(options: GroupSourceOptions, { step = 0, drawn = 0 }: { step?: number; drawn?: number } = {}) {
    this.options = options
    this.step = step + 1
    this.weights = step
    this.count = drawn
  }

  /** Goes on with groups that were ordered before. */
  takeUp(groups: readonly OpenGroup[]): void {
    for (const { played, task, ...group } of groups) {
      this.begin({ ...group, task: task.id, began: this.weights, ended: [] }, played, task)
    }
  }

  /** The weights after a step sample from now on. */
  weightsOf(step: number): void {
    this.weights = step
    if (this.options.staleness !== undefined) this.order()
  }

  /**
   * Groups for a step; none where nothing came that can be learned from. Rejects when rollouts cannot be recorded,
   * and with `prompt_invalid` or `context_overflow` when the policy read nothing in any of the first ones.
   */
  async take(step: number): Promise<Taken> {
    const left: LeftOut[] = []
    this.step = step
    this.replaced = 0
    this.gathering = true
    try {
      for (;;) {
        if (this.failure !== undefined) throw this.failure
        // What the policy cannot read ends at once: nothing replaces it before the others have shown whether it can read them.
        if (this.waitedFor().length === 0) refuseUnread(this.unread ?? [])
        const kept = this.sortOut(left)
        if (this.stopped) return { groups: [], left, stopped: true }
        if (this.isEnough(kept)) return { groups: this.given(kept), left, stopped: false }
        this.order()
        if (this.waitedFor().length === 0) return { groups: this.given(kept), left, stopped: false }
        await this.change()
      }
    } catch (error) {
      // Given to no step: it is open.
      this.late.unshift(...left)
      throw error
    } finally {
      this.gathering = false
      this.step = step + 1
      // Where rollouts go on while the learner learns, the next ones are ordered now.
      if (this.options.staleness !== undefined) this.order()
    }
  }

  /** Starts nothing more, and ends what is waited for. */
  stop(): void {
    this.stopped = true
    this.wake?.()
  }

  /** Resolves once nothing is played any more. */
  async ended(): Promise<void> {
    await Promise.all(this.plays)
  }

  /** What was ordered and no step was given. */
  open(): LeftGroup[] {
    const playing = [...this.inFlight.values()].map((group) => {
      const { id, task, place, orders, ended, taken } = group
      const here = new Set(taken ? ended.map(({ order }) => order) : [])
      const missing = orders.map((order) => order.id).filter((order) => !here.has(order))
      return { place, id, task, orders: missing, why: taken ? 'late' : 'unfinished' }
    })
    const waiting = [...this.whole.map(({ group }) => ({ group, why: 'not_needed' })), ...this.late].map(
      ({ group: { place, id, task, members }, why }) => {
        return { place, id, task, orders: members.map(({ order }) => order), why }
      },
    )
    return [...playing, ...waiting].sort((a, b) => a.place - b.place).map(({ place: _, ...group }) => group)
  }

  /** Groups in flight of which no step has taken a part. */
  private waitedFor(): InFlight[] {
    return [...this.inFlight.values()].filter(({ taken }) => !taken)
  }

  /** Moves what is whole and not learned from to `left`; gives the rest, the earliest drawn first. */
  private sortOut(left: LeftOut[]): PlayedGroup[] {
    left.push(...this.late.splice(0))
    const { staleness, updates, version } = this.options
    this.whole = this.whole
      .sort((a, b) => a.group.place - b.group.place)
      .filter(({ group, why }) => {
        const old = Math.ceil((version() - group.oldest) / updates)
        const reason = staleness !== undefined && old > staleness ? 'stale' : why
        if (reason === undefined) return true
        left.push({ group, why: reason })
        this.replaced++
        return false
      })
    return this.whole.map(({ group }) => group)
  }

  private isEnough(kept: readonly PlayedGroup[]): boolean {
    const { wanted, stragglers } = this.options
    if (stragglers === 'wait') return kept.length >= wanted && !this.mustWait()
    if (stragglers.policy === 'over_order') return kept.length >= wanted
    if (stragglers.policy === 'resume_long') return kept.length >= Math.ceil(stragglers.share * wanted)
    return kept.length >= wanted || this.isPartDone(kept, stragglers)
  }

  /**
   * If a step were to take the first of what is whole, something would be too old before its turn came: of all that has to
   * be consumed by a later step, more would be left than the steps until then can take.
   */
  private mustWait(): boolean {
    const { wanted, staleness = 0 } = this.options
    const given = this.whole.slice(0, wanted)
    const open = [...this.waitedFor(), ...this.whole]
    for (let steps = 0; steps <= staleness; steps++) {
      const isDue = ({ began }: { began: number }) => began + 1 + staleness <= this.step + steps
      const due = open.filter(isDue).length - steps * wanted
      if (given.filter(isDue).length < Math.min(wanted, due)) return true
    }
    return false
  }

  private isPartDone(
    kept: readonly PlayedGroup[],
    { atLeast, share }: { atLeast: number; share: number },
  ): boolean {
    const { groupSize } = this.options
    const open = this.waitedFor()
    const ended = open.reduce((sum, group) => sum + group.ended.length, 0) + kept.length * groupSize
    if (ended < share * (open.length + kept.length) * groupSize) return false
    return kept.length > 0 || open.some((group) => this.partOf(group, atLeast) !== undefined)
  }

  /** What a step takes of what is there; the rest stays for the next one. */
  private given(kept: PlayedGroup[]): PlayedGroup[] {
    const { wanted, stragglers } = this.options
    const given = kept.slice(0, wanted)
    this.whole.splice(0, given.length)
    if (stragglers === 'wait' || stragglers.policy !== 'partial_groups') return given
    for (const group of this.waitedFor()) {
      if (given.length >= wanted) break
      const part = this.partOf(group, stragglers.atLeast)
      if (part === undefined) continue
      group.taken = true
      given.push(part)
    }
    return given.sort((a, b) => a.place - b.place)
  }

  /** What is there of a group in flight, where it is enough to learn from. */
  private partOf(group: InFlight, atLeast: number): PlayedGroup | undefined {
    if (group.ended.length < atLeast) return undefined
    const part = this.playedOf(group, group.ended)
    return this.options.whyLeft(part) === undefined ? part : undefined
  }

  /** Orders what there is room for. */
  private order(): void {
    const { draw } = this.options
    if (this.stopped || this.failure !== undefined || (this.unread?.length ?? 0) > 0) return
    const busy = new Set(
      [...this.inFlight.values(), ...this.whole.map(({ group }) => group)].map(({ task }) => task),
    )
    for (let room = this.room(); room > 0; room--) {
      const task = draw.next(busy)
      busy.add(task.id)
      const place = this.count++
      const group = {
        id: `g${place}`,
        place,
        task: task.id,
        orders: [],
        began: this.weights,
        ended: [],
        taken: false,
      }
      this.begin(group, new Map(), task)
    }
  }

  /** Groups that may be ordered now, so that each is consumed before it is too old. */
  private room(): number {
    const { wanted, refillOf, staleness = 0, stragglers } = this.options
    const open = this.waitedFor().length + this.whole.length
    // From the step that is gathered for to the last that may consume what these weights sample.
    const steps = this.weights + 1 + staleness - this.step + 1
    if (steps <= 0) return 0
    const isOver = typeof stragglers === 'object' && stragglers.policy === 'over_order'
    const ahead = (steps - 1) * wanted + (isOver ? stragglers.extra : 0)
    if (!this.gathering) return ahead + wanted - open
    const kept = open - ahead
    return refillOf({ kept, ordered: kept + this.replaced })
  }

  private begin(group: InFlight, played: ReadonlyMap<string, Rollout>, task: TaskSummary): void {
    const play = this.play(group, played, task).finally(() => this.plays.delete(play))
    this.plays.add(play)
  }

  /** Plays what is open of a group. Never rejects. */
  private async play(
    group: InFlight,
    played: ReadonlyMap<string, Rollout>,
    task: TaskSummary,
  ): Promise<void> {
    const { run, groupSize, memberOf } = this.options
    this.inFlight.set(group.id, group)
    try {
      // Of a group of which a part was taken only the rest is here.
      const missing = group.taken ? 0 : groupSize - group.orders.length
      if (missing > 0) {
        group.orders.push(...(await run.orderGroup(task, { group: group.id, size: missing })))
      }
      const inParts =
        typeof this.options.stragglers === 'object' && this.options.stragglers.policy === 'partial_groups'
      const rollouts = await Promise.all(
        group.orders.map(async (order) => {
          const rollout = played.get(order.id) ?? (await run.play(order))
          if (inParts && rollout !== undefined) this.memberEnded(group, memberOf(rollout))
          return rollout
        }),
      )
      if (rollouts.some((rollout) => rollout === undefined)) return
      if (inParts) this.groupEnded(group, group.ended)
      else {
        const graded = await run.gradeGroup(rollouts.filter((rollout) => rollout !== undefined))
        this.groupEnded(group, graded.map(memberOf))
      }
    } catch (error) {
      this.failure ??= error
    } finally {
      this.wake?.()
    }
  }

  private memberEnded(group: InFlight, member: Member): void {
    group.ended.push(member)
    if (group.taken) this.late.push({ group: this.playedOf(group, [member]), why: 'late' })
    this.wake?.()
  }

  private groupEnded(group: InFlight, members: readonly Member[]): void {
    this.sawRead(members)
    this.inFlight.delete(group.id)
    if (group.taken) return
    const whole = this.playedOf(group, members)
    this.whole.push({ group: whole, why: this.options.whyLeft(whole), began: group.began })
  }

  /** Remembers how rollouts ended as long as none could be read. */
  private sawRead(members: readonly Member[]): void {
    for (const { unread } of members) {
      if (unread === undefined) this.unread = undefined
      else this.unread?.push(unread)
    }
  }

  /** By the order of the plan, however they ended. */
  private playedOf({ id, place, task, orders }: InFlight, members: readonly Member[]): PlayedGroup {
    const byOrder = new Map(members.map((member) => [member.order, member]))
    const sorted = orders.flatMap(({ id: order }) => byOrder.get(order) ?? [])
    const versions = sorted.flatMap(({ oldest }) => oldest ?? [])
    return { id, place, task, members: sorted, oldest: Math.min(this.options.version(), ...versions) }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined
        resolve()
      }
    })
  }
}
