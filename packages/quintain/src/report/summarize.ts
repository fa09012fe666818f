import {
  type AttemptRecord,
  addCost,
  addUsage,
  type Fault,
  type Folded,
  foldRun,
  type ManifestRecord,
  noUsage,
  type OrderStatus,
  type Outcome,
  type RunFold,
  type RunIssue,
  type Usage,
  type VerdictSummary,
} from '../core/index.ts'
import { mean, quantile } from '../stats/index.ts'
import { type Estimate, estimate, estimateRate, type RateEstimate } from './estimate.ts'
import { healthWarnings, type RunWarning } from './warnings.ts'

/** Of one kind of time, over the attempts that count: milliseconds. */
export interface Percentiles {
  p50: number | null
  p95: number | null
  p99: number | null
  max: number | null
  /** Sum over all of them. */
  total: number
}

/** Mean of a reward component or metric over the orders that have it. */
export interface ComponentMean {
  mean: number | null
  n: number
  planned: number
}

export interface FaultCount {
  owner: Fault['owner']
  stage: string
  code: string
  count: number
  /** The message of the first of them. */
  example: string
}

/** US dollars of a ledger over all attempts, retried ones too. */
export interface Ledger {
  /** Null when the price of any of it is unknown. */
  usd: number | null
  /** What is known, and how many attempts are not in it. */
  knownUsd: number
  unknownAttempts: number
}

/** What a run says, computed from its plan and the lines of its attempts; also the report's JSON form. */
export interface RunSummary {
  schema: 'quintain.report'
  v: 1
  run: {
    dir: string
    id: string
    created: string
    quintain: string
    node: string
    environment: ManifestRecord['environment']
    rubric: string
    seats: ManifestRecord['seats']
    seed: string
    limits: ManifestRecord['limits']
    isolation: ManifestRecord['isolation']
  }
  /** Everything that was ordered; the five statuses are disjoint and add up to it. */
  orders: number
  status: Record<OrderStatus, number>
  /** True when no order is pending or cancelled. */
  complete: boolean
  tasks: { planned: number; scored: number }
  /** Fewest and most orders of a task. */
  repeats: { min: number; max: number }
  /** Scored orders over orders; null without orders. */
  coverage: number | null
  minCoverage: number
  reward: Estimate
  success: RateEstimate
  /** The same for these very tasks run again; intervals exist from two repeats on. */
  again: { reward: Estimate; success: RateEstimate }
  rewards: Record<string, ComponentMean & { kind: 'reward' | 'group'; weight: number }>
  metrics: Record<string, ComponentMean>
  /** How the agent ended, over the orders that did not end in a fault: outcomes, faults and pending orders add up to the orders. */
  outcomes: Partial<Record<Outcome, number>>
  /** Faults of the orders that ended in one. */
  faults: FaultCount[]
  /** Faults that another try of the same order got over, or may yet. */
  retriedFaults: FaultCount[]
  unscored: { component: string; reason: string; count: number }[]
  attempts: {
    total: number
    /** Attempts beyond the first of their order. */
    retries: number
  }
  time: {
    rollout: Percentiles
    agent: Percentiles
    model: Percentiles
    wait: Percentiles
    grading: Percentiles
  }
  turns: { mean: number | null; p50: number | null; p95: number | null; max: number | null }
  toolCalls: number
  /** In-band tool errors by code, over the attempts that count. */
  toolErrors: Record<string, number>
  modelRetries: number
  /** Attempts that count, by flag of their model replies. */
  flags: Record<string, number>
  /** Tokens over all attempts, each counted once. */
  usage: { agent: Usage; simulator?: Usage; judge?: Usage }
  cost: { agent: Ledger; simulator?: Ledger; judge?: Ledger; total: Ledger }
  /** First start and last end of any attempt; null before the first. */
  start: string | null
  end: string | null
  /** Milliseconds during which at least one attempt ran, so that a pause between two sittings does not count. */
  activeMs: number
  warnings: RunWarning[]
  issues: RunIssue[]
}

/** What is kept of an attempt: a report of 100,000 must fit into memory. */
interface AttemptDigest extends Folded {
  verdict: VerdictSummary | null
  /** The fault of the attempt itself; `fault` may be one that its group's grading added later. */
  faultAtEnd: Fault | null
  wallMs: number
  agentMs: number
  modelMs: number
  waitMs: number
  gradeMs: number
  turns: number
  toolCalls: number
  modelRetries: number
  toolErrors: Record<string, number> | undefined
  flags: Record<string, number> | undefined
}

const ledgerNames = ['agent', 'simulator', 'judge'] as const
type LedgerName = (typeof ledgerNames)[number]

/** Sums over every attempt, whether or not it counts in the end. */
class Totals {
  attempts = 0
  faults = new FaultCounter()
  usage: Partial<Record<LedgerName, Usage>> = {}
  ledgers: Partial<Record<LedgerName, Ledger>> = {}
  total: Ledger = { usd: 0, knownUsd: 0, unknownAttempts: 0 }
  start: string | null = null
  end: string | null = null
  private readonly starts: number[] = []
  private readonly ends: number[] = []

  add(attempt: AttemptRecord): void {
    this.attempts++
    if (attempt.fault !== null) this.faults.add(attempt.fault)
    let sum: number | null = 0
    let known = 0
    for (const name of ledgerNames) {
      const used = attempt.usage[name]
      if (used !== undefined) this.usage[name] = addUsage(this.usage[name] ?? noUsage, used)
      const usd = attempt.costUsd[name]
      if (usd === undefined) continue
      this.ledgers[name] ??= { usd: 0, knownUsd: 0, unknownAttempts: 0 }
      addTo(this.ledgers[name], usd, usd ?? 0)
      sum = addCost(sum, usd)
      known += usd ?? 0
    }
    addTo(this.total, sum, known)
    if (this.start === null || attempt.start < this.start) this.start = attempt.start
    if (this.end === null || attempt.end > this.end) this.end = attempt.end
    const from = Date.parse(attempt.start)
    const to = Date.parse(attempt.end)
    // A clock that was set back may end an attempt before its start.
    if (Number.isFinite(from) && to >= from) {
      this.starts.push(from)
      this.ends.push(to)
    }
  }

  /** Length of the union of all attempts' spans. */
  activeMs(): number {
    const starts = Float64Array.from(this.starts).sort()
    const ends = Float64Array.from(this.ends).sort()
    let active = 0
    let running = 0
    let since = 0
    let at = 0
    for (const end of ends) {
      while (at < starts.length && starts[at]! <= end) {
        if (running === 0) since = starts[at]!
        running++
        at++
      }
      running--
      if (running === 0) active += end - since
    }
    return active
  }
}

function addTo(ledger: Ledger, usd: number | null, known: number): void {
  ledger.usd = addCost(ledger.usd, usd)
  ledger.knownUsd += known
  if (usd === null) ledger.unknownAttempts++
}

class FaultCounter {
  private readonly counts = new Map<string, FaultCount>()

  add(fault: Fault, by = 1): void {
    const key = `${fault.owner}\n${fault.stage}\n${fault.code}`
    const found = this.counts.get(key)
    if (found !== undefined) found.count += by
    else {
      const { owner, stage, code, message } = fault
      this.counts.set(key, { owner, stage, code, count: by, example: message })
    }
  }

  list(): FaultCount[] {
    return [...this.counts.values()].filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
  }
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  let total = 0
  for (const value of sorted) total += value
  return {
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
    total,
  }
}

function addCounts(to: Record<string, number>, from: Record<string, number> | undefined): void {
  for (const [name, count] of Object.entries(from ?? {})) to[name] = (to[name] ?? 0) + count
}

/**
 * Computes what a run says from its folder. Reads the plan and the attempt lines, never a trajectory.
 *
 * `minCoverage` is the share of orders that must be scored for a headline, 1 when absent. Throws what `foldRun` throws.
 */
export async function summarize(
  dir: string,
  { minCoverage = 1 }: { minCoverage?: number } = {},
): Promise<RunSummary> {
  const totals = new Totals()
  const fold = await foldRun<AttemptDigest>(dir, (attempt) => {
    totals.add(attempt)
    const { timing, counts } = attempt
    return {
      verdict: attempt.verdict,
      fault: attempt.fault,
      faultAtEnd: attempt.fault,
      outcome: attempt.outcome,
      wallMs: timing.wallMs,
      agentMs: timing.agentMs,
      modelMs: timing.modelMs,
      waitMs: timing.waitMs,
      gradeMs: timing.gradeMs,
      turns: counts.turns,
      toolCalls: counts.toolCalls,
      modelRetries: counts.modelRetries,
      toolErrors: counts.toolErrors,
      flags: counts.flags,
    }
  })
  return summaryOf(fold, totals, minCoverage)
}

function summaryOf(fold: RunFold<AttemptDigest>, totals: Totals, minCoverage: number): RunSummary {
  const { manifest, states } = fold
  const status: Record<OrderStatus, number> = { scored: 0, unscored: 0, faulted: 0, cancelled: 0, pending: 0 }
  const rewardScores = new Map<string, (number | null)[]>()
  const successScores = new Map<string, (number | null)[]>()
  const outcomes: Partial<Record<Outcome, number>> = {}
  const faults = new FaultCounter()
  const unscored = new Map<string, { component: string; reason: string; count: number }>()
  const rewardValues: Record<string, (number | null)[]> = {}
  const metricValues: Record<string, (number | null)[]> = {}
  for (const name of Object.keys(manifest.environment.rewards)) rewardValues[name] = []
  for (const name of manifest.environment.metrics) metricValues[name] = []
  const finished: AttemptDigest[] = []
  const toolErrors: Record<string, number> = {}
  const flags: Record<string, number> = {}
  let toolCalls = 0
  let modelRetries = 0
  let tries = 0
  let tried = 0

  for (const state of states) {
    const { order, chosen } = state
    status[state.status]++
    tries += state.tries
    if (state.tries > 0) tried++
    const scored = state.status === 'scored'
    push(rewardScores, order.task, scored ? (chosen?.verdict?.reward ?? null) : null)
    const success = scored ? (chosen?.verdict?.success ?? null) : null
    push(successScores, order.task, success === null ? null : Number(success))
    if (state.status === 'pending' || chosen === undefined) continue
    if (state.status !== 'faulted' && chosen.outcome !== null) {
      outcomes[chosen.outcome] = (outcomes[chosen.outcome] ?? 0) + 1
    }
    if (state.status === 'cancelled') continue
    finished.push(chosen)
    if (state.status === 'faulted' && chosen.fault !== null) {
      faults.add(chosen.fault)
      // What is told as the order's fault is not told again as one that was got over.
      if (chosen.faultAtEnd !== null) totals.faults.add(chosen.faultAtEnd, -1)
    }
    toolCalls += chosen.toolCalls
    modelRetries += chosen.modelRetries
    addCounts(toolErrors, chosen.toolErrors)
    for (const flag of Object.keys(chosen.flags ?? {})) flags[flag] = (flags[flag] ?? 0) + 1
    if (state.status === 'faulted' || chosen.verdict === null) continue
    const { verdict } = chosen
    if (state.status === 'unscored') {
      const { component, reason } = verdict.unscored ?? { component: '', reason: 'no_reason_given' }
      const key = `${component}\n${reason}`
      const found = unscored.get(key)
      if (found !== undefined) found.count++
      else unscored.set(key, { component, reason, count: 1 })
    }
    for (const [name, values] of Object.entries(rewardValues)) values.push(verdict.rewards[name] ?? null)
    for (const [name, values] of Object.entries(metricValues)) values.push(verdict.metrics[name] ?? null)
  }

  const orders = states.length
  const counts = [...rewardScores.values()].map((scores) => scores.length)
  const component = (values: readonly (number | null)[]): ComponentMean => {
    const found = mean(values)
    return { mean: found.mean, n: found.n, planned: orders }
  }
  const reward = estimate('mean', rewardScores, { minCoverage })
  const again = { scope: 'these tasks again', minCoverage } as const
  const declared = manifest.environment.success
  const rate = (options: Parameters<typeof estimateRate>[1]): RateEstimate => {
    const found = estimateRate(successScores, options)
    return declared
      ? found
      : { ...found, value: null, interval: [0, 1], bounds: null, reason: 'not_declared' }
  }
  const turns = percentiles(finished.map((attempt) => attempt.turns))
  const times = (pick: (attempt: AttemptDigest) => number) => percentiles(finished.map(pick))
  const { agent = { usd: 0, knownUsd: 0, unknownAttempts: 0 }, simulator, judge } = totals.ledgers
  const { id, created, quintain, node, environment, rubric, seats, seed, limits, isolation } = manifest
  const truncated = (outcomes.truncated ?? 0) + (outcomes.token_limit ?? 0)

  const summary: RunSummary = {
    schema: 'quintain.report',
    v: 1,
    run: {
      dir: fold.dir,
      id,
      created,
      quintain,
      node,
      environment,
      rubric,
      seats,
      seed,
      limits,
      isolation,
    },
    orders,
    status,
    complete: status.pending === 0 && status.cancelled === 0,
    tasks: { planned: rewardScores.size, scored: reward.tasks.scored },
    repeats: counts.reduce(
      (range, count) => ({ min: Math.min(range.min, count), max: Math.max(range.max, count) }),
      {
        min: counts[0] ?? 0,
        max: 0,
      },
    ),
    coverage: orders === 0 ? null : status.scored / orders,
    minCoverage,
    reward,
    success: rate({ minCoverage }),
    again: { reward: estimate('mean', rewardScores, again), success: rate(again) },
    rewards: Object.fromEntries(
      Object.entries(rewardValues).map(([name, values]) => [
        name,
        { ...component(values), ...manifest.environment.rewards[name]! },
      ]),
    ),
    metrics: Object.fromEntries(
      Object.entries(metricValues).map(([name, values]) => [name, component(values)]),
    ),
    outcomes,
    faults: faults.list(),
    retriedFaults: totals.faults.list(),
    unscored: [...unscored.values()].sort((a, b) => b.count - a.count),
    attempts: { total: totals.attempts, retries: tries - tried },
    time: {
      rollout: times((attempt) => attempt.wallMs),
      agent: times((attempt) => attempt.agentMs),
      model: times((attempt) => attempt.modelMs),
      wait: times((attempt) => attempt.waitMs),
      grading: times((attempt) => attempt.gradeMs),
    },
    turns: {
      mean: finished.length === 0 ? null : turns.total / finished.length,
      p50: turns.p50,
      p95: turns.p95,
      max: turns.max,
    },
    toolCalls,
    toolErrors,
    modelRetries,
    flags,
    usage: {
      agent: totals.usage.agent ?? noUsage,
      ...(totals.usage.simulator === undefined ? {} : { simulator: totals.usage.simulator }),
      ...(totals.usage.judge === undefined ? {} : { judge: totals.usage.judge }),
    },
    cost: {
      agent,
      ...(simulator === undefined ? {} : { simulator }),
      ...(judge === undefined ? {} : { judge }),
      total: totals.total,
    },
    start: totals.start,
    end: totals.end,
    activeMs: totals.activeMs(),
    warnings: healthWarnings({
      finished: finished.length,
      truncated,
      empty: flags.empty_output ?? 0,
      meanReward: reward.observed,
    }),
    issues: fold.issues,
  }
  if (status.faulted > 0 && status.faulted === orders) {
    summary.warnings.push({
      code: 'all_faulted',
      message: `Every order ended in a fault (${summary.faults[0]?.owner}: ${summary.faults[0]?.code}); nothing was measured.`,
    })
  }
  if (fold.issues.length > 0) {
    summary.warnings.push({
      code: 'journal_damaged',
      message: `${fold.issues.length} damaged places in the run's files were skipped; \`quintain resume\` runs again what they held.`,
    })
  }
  return summary
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
