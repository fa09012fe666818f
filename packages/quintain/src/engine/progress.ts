import { type AttemptRecord, addCost, type VerdictSummary } from '../core/index.ts'

/** Where a run stands, for a live display. Counts are of orders unless said otherwise. */
export interface Progress {
  orders: number
  done: number
  running: number
  scored: number
  unscored: number
  faulted: number
  /** Graded but for the rewards of their group, which come when the group is whole. */
  waiting: number
  /** Attempts that were tried again. */
  retried: number
  /** Faults of attempts by owner, retried ones too. */
  faults: Record<string, number>
  /** Outcomes of finished orders. */
  outcomes: Record<string, number>
  /** US dollars of all attempts; null as soon as one price is unknown. */
  costUsd: number | null
  /** Orders finished per second since this process began on the run. */
  perSecond: number
  etaMs: number | null
  meanReward: number | null
  successes: number
}

/** Counts orders as they finish. */
export class ProgressCounter {
  readonly value: Progress
  private readonly began = performance.now()
  /** US dollars whose amount is known, earlier sittings included. */
  knownUsd = 0
  /** An attempt ended as it should and its price is not known. */
  unpriced = false
  private finishedHere = 0
  private rewardSum = 0

  constructor(orders: number) {
    this.value = {
      orders,
      done: 0,
      running: 0,
      scored: 0,
      unscored: 0,
      faulted: 0,
      waiting: 0,
      retried: 0,
      faults: {},
      outcomes: {},
      costUsd: 0,
      perSecond: 0,
      etaMs: null,
      meanReward: null,
      successes: 0,
    }
  }

  /** An order that was finished before this process took the run up. */
  before(status: 'scored' | 'unscored' | 'faulted', reward: number | null, success: boolean | null): void {
    this.value.done++
    this.value[status]++
    this.reward(reward, success)
  }

  attempt(attempt: Pick<AttemptRecord, 'fault' | 'outcome' | 'verdict' | 'costUsd'>, final: boolean): void {
    const { value } = this
    for (const cost of Object.values(attempt.costUsd)) {
      if (cost === undefined) continue
      value.costUsd = addCost(value.costUsd, cost)
      this.knownUsd += cost ?? 0
      if (cost === null && attempt.fault === null && attempt.outcome !== 'cancelled') this.unpriced = true
    }
    if (attempt.fault !== null) {
      value.faults[attempt.fault.owner] = (value.faults[attempt.fault.owner] ?? 0) + 1
      if (!final) value.retried++
    }
    if (!final || attempt.outcome === 'cancelled') return
    value.done++
    this.finishedHere++
    if (attempt.outcome !== null) value.outcomes[attempt.outcome] = (value.outcomes[attempt.outcome] ?? 0) + 1
    if (attempt.fault !== null) value.faulted++
    else if (attempt.verdict?.pending !== undefined) value.waiting++
    else {
      const reward = attempt.verdict?.reward ?? null
      value[reward === null ? 'unscored' : 'scored']++
      this.reward(reward, attempt.verdict?.success ?? null)
    }
  }

  /** What an attempt of an earlier sitting spent; null when that is not known. */
  spentBefore(costUsd: number | null): void {
    this.value.costUsd = addCost(this.value.costUsd, costUsd)
    this.knownUsd += costUsd ?? 0
  }

  /** An order that waited for its group's verdict and has it now; null for a fault of the group's grader. */
  grouped(verdict: VerdictSummary | null): void {
    const { value } = this
    if (value.waiting > 0) value.waiting--
    if (verdict === null) value.faulted++
    else {
      value[verdict.reward === null ? 'unscored' : 'scored']++
      this.reward(verdict.reward, verdict.success)
    }
  }

  /** A copy with the rates as they are now. */
  snapshot(running: number): Progress {
    const seconds = (performance.now() - this.began) / 1000
    const perSecond = seconds > 0 ? this.finishedHere / seconds : 0
    const left = this.value.orders - this.value.done
    return {
      ...this.value,
      faults: { ...this.value.faults },
      outcomes: { ...this.value.outcomes },
      running,
      perSecond,
      etaMs: perSecond > 0 ? (left / perSecond) * 1000 : null,
    }
  }

  private reward(reward: number | null, success: boolean | null): void {
    if (reward !== null) {
      this.rewardSum += reward
      this.value.meanReward = this.rewardSum / this.value.scored
    }
    if (success === true) this.value.successes++
  }
}

function addCounts(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...a }
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** Where several runs stand that go on side by side, as if they were one. */
export function mergedProgress(all: readonly Progress[]): Progress {
  const merged = new ProgressCounter(0).value
  let rewards = 0
  for (const one of all) {
    for (const name of ['orders', 'done', 'running', 'scored', 'unscored', 'faulted', 'waiting'] as const) {
      merged[name] += one[name]
    }
    merged.retried += one.retried
    merged.perSecond += one.perSecond
    merged.successes += one.successes
    merged.faults = addCounts(merged.faults, one.faults)
    merged.outcomes = addCounts(merged.outcomes, one.outcomes)
    merged.costUsd = addCost(merged.costUsd, one.costUsd)
    rewards += (one.meanReward ?? 0) * one.scored
  }
  const left = merged.orders - merged.done
  return {
    ...merged,
    meanReward: merged.scored === 0 ? null : rewards / merged.scored,
    etaMs: merged.perSecond > 0 ? (left / merged.perSecond) * 1000 : null,
  }
}
