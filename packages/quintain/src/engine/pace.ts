import type { AttemptRecord, OrderRecord } from '../core/index.ts'
import type { RunStop } from './scheduler.ts'

/** An order of one of the runs that has come to its end. */
export interface OrderEnd {
  /** Place of the run in the panel. */
  place: number
  order: OrderRecord
  attempt: Pick<AttemptRecord, 'verdict' | 'fault' | 'outcome'>
}

/** Looks at each result as it comes, and may say that enough is known: nothing more is started then. */
export type PanelWatch = (result: OrderEnd) => RunStop | undefined

/**
 * Lets several runs over one plan take turns, order by order, under one concurrency and one cost cap: a, b, c, then
 * b, c, a, then c, a, b. So a provider that is slower or worse for an hour is so for all of them.
 */
export class Pace {
  private readonly lanes: Lane[] = []
  private readonly concurrency: number
  private readonly maxCostUsd: number | undefined
  private readonly watch: PanelWatch | undefined
  private running = 0

  constructor({
    concurrency,
    maxCostUsd,
    watch,
  }: { concurrency: number; maxCostUsd?: number; watch?: PanelWatch }) {
    this.concurrency = concurrency
    this.maxCostUsd = maxCostUsd
    this.watch = watch
  }

  /** The next run's place; all are made before the first begins. */
  lane(): Lane {
    const lane = new Lane(this, this.lanes.length)
    this.lanes.push(lane)
    return lane
  }

  free(): boolean {
    return this.running < this.concurrency
  }

  change(by: 1 | -1): void {
    this.running += by
    this.wakeAll()
  }

  wakeAll(): void {
    for (const lane of this.lanes) lane.wake()
  }

  /** Whether no other run still has to start something before this. */
  isFirst(lane: Lane): boolean {
    return this.lanes.every((other) => other === lane || other.done || this.before(lane, other))
  }

  /** By place in the plan; within one place the first of the runs moves on with each place. */
  private before(a: Lane, b: Lane): boolean {
    if (a.next !== b.next) return a.next < b.next
    const rank = ({ place }: Lane) =>
      (place - (a.next % this.lanes.length) + this.lanes.length) % this.lanes.length
    return rank(a) < rank(b)
  }

  /** Why nothing more may be started, when all runs together have spent what they may. */
  overSpent(): RunStop | undefined {
    const { maxCostUsd } = this
    if (maxCostUsd === undefined) return undefined
    const unpriced = this.lanes.some((lane) => lane.unpriced)
    const knownUsd = this.lanes.reduce((sum, lane) => sum + lane.knownUsd, 0)
    if (!unpriced && knownUsd < maxCostUsd) return undefined
    return spendStop(maxCostUsd, knownUsd, unpriced)
  }

  see(result: OrderEnd): void {
    const stop = this.watch?.(result)
    if (stop !== undefined) this.haltAll(stop)
  }

  /** Stops every run. */
  haltAll(stop: RunStop): void {
    for (const lane of this.lanes) lane.halt(stop)
  }
}

/** How a run takes part in a pace. */
export class Lane {
  readonly place: number
  /** No order before this place of the plan will be started by this run for the first time. */
  next = 0
  /** It has nothing more to start but retries. */
  done = false
  knownUsd = 0
  unpriced = false
  /** Set by the run's scheduler: look again whether something may start, and stop. */
  wake: () => void = () => {}
  halt: (stop: RunStop) => void = () => {}
  private readonly pace: Pace

  constructor(pace: Pace, place: number) {
    this.pace = pace
    this.place = place
  }

  /** Whether another attempt may run, of whichever run. */
  free(): boolean {
    return this.pace.free()
  }

  /** Whether it is this run's turn to start the order in that place of the plan. */
  isTurn(seq: number): boolean {
    if (this.next < seq) {
      this.next = seq
      this.pace.wakeAll()
    }
    return this.pace.isFirst(this)
  }

  /** The order in that place is started; the next one of this run lies behind it. */
  passed(seq: number): void {
    this.next = Math.max(this.next, seq + 1)
  }

  /** An attempt of this run takes a place of the concurrency, or gives it back. */
  occupy(): void {
    this.pace.change(1)
  }

  release(): void {
    this.pace.change(-1)
  }

  finish(): void {
    this.done = true
    this.pace.wakeAll()
  }

  /** Tells how an order ended. */
  ended(order: OrderRecord, attempt: OrderEnd['attempt']): void {
    this.pace.see({ place: this.place, order, attempt })
  }

  /** Tells what this run has spent, and stops all of them when that is too much together. */
  spend(knownUsd: number, unpriced: boolean): void {
    this.knownUsd = knownUsd
    this.unpriced = unpriced
    const stop = this.pace.overSpent()
    if (stop !== undefined) this.pace.haltAll(stop)
  }
}

/** That a cost cap is reached, or cannot be kept. */
export function spendStop(maxCostUsd: number, knownUsd: number, unpriced: boolean): RunStop {
  return {
    code: 'spend_cap',
    message: unpriced
      ? 'the price of a call is not known, so that the cost cap cannot be kept; give the model a price'
      : `the cost cap of $${maxCostUsd} is reached ($${knownUsd.toFixed(4)} spent)`,
  }
}
