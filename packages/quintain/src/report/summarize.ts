import {
  type AttemptRecord,
  addCost,
  addUsage,
  type Fault,
  type FloorRecord,
  type Folded,
  foldRun,
  type ManifestRecord,
  noUsage,
  type OrderStatus,
  type Outcome,
  type RunFold,
  type RunIssue,
  solutionsNote,
  type Usage,
  type VerdictSummary,
} from '../core/index.ts'
import { quantile, RunningMean } from '../stats/index.ts'
import {
  type Estimate,
  estimate,
  estimateRate,
  largestReward,
  type RateEstimate,
  type TaskScores,
} from './estimate.ts'
import { type StopReason, StopReasons } from './stop-reasons.ts'
import { type Tries, triesOf } from './tries.ts'
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
    /** What policies that know nothing reached, where the environment names some and it was measured. */
    floor?: readonly FloorRecord[]
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
  /** The same for these very tasks run again; intervals exist from two repeats on, where some of them differ. */
  again: { reward: Estimate; success: RateEstimate }
  /** pass@k, pass^k and how reliable tasks are; null without a success rate, or where a task has fewer than two scored attempts. */
  tries: Tries | null
  rewards: Record<string, ComponentMean & { kind: 'reward' | 'group'; weight: number }>
  metrics: Record<string, ComponentMean>
  /** How the agent ended, over the orders that did not end in a fault: outcomes, faults and pending orders add up to the orders. */
  outcomes: Partial<Record<Outcome, number>>
  /** Why agents failed (`agent_error`), the commonest reasons first; absent where none did. */
  agentErrors?: StopReason[]
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
  /** What agents did, in the attempts that count and are no faults: what was done on the way to a fault says nothing of an agent. */
  turns: { mean: number | null; p50: number | null; p95: number | null; max: number | null }
  toolCalls: number
  /** In-band tool errors by code, of the same attempts. */
  toolErrors: Record<string, number>
  /** Tries of model calls that failed: those that another try followed, and the last of a call that was given up. */
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

/**
 * What is kept of an attempt as an object. Its numbers are in columns and its verdict is shared with equal ones: a report
 * of 100,000 attempts must fit into little memory.
 */
interface AttemptDigest extends Folded {
  /** Place in the columns. */
  row: number
  /** The fault of the attempt itself; `fault` may be one that its group's grading added later. */
  faultAtEnd: Fault | null
}

const columnNames = [
  'start',
  'end',
  'wallMs',
  'agentMs',
  'modelMs',
  'waitMs',
  'gradeMs',
  'turns',
  'toolCalls',
  'modelRetries',
] as const
type ColumnName = (typeof columnNames)[number]

/** Numbers of all attempts, a typed array for each kind. */
class Columns {
  rows = 0
  private capacity = 1024
  private readonly arrays: Record<ColumnName, Float64Array>

  constructor() {
    this.arrays = Object.fromEntries(
      columnNames.map((name) => [name, new Float64Array(this.capacity)]),
    ) as Record<ColumnName, Float64Array>
  }

  add({ start, end, timing, counts }: AttemptRecord): number {
    if (this.rows === this.capacity) {
      this.capacity *= 2
      for (const name of columnNames) {
        const larger = new Float64Array(this.capacity)
        larger.set(this.arrays[name])
        this.arrays[name] = larger
      }
    }
    const row = this.rows++
    this.arrays.start[row] = Date.parse(start)
    this.arrays.end[row] = Date.parse(end)
    this.arrays.wallMs[row] = timing.wallMs
    this.arrays.agentMs[row] = timing.agentMs
    this.arrays.modelMs[row] = timing.modelMs
    this.arrays.waitMs[row] = timing.waitMs
    this.arrays.gradeMs[row] = timing.gradeMs
    this.arrays.turns[row] = counts.turns
    this.arrays.toolCalls[row] = counts.toolCalls
    this.arrays.modelRetries[row] = counts.modelRetries
    return row
  }

  of(name: ColumnName, rows: Uint32Array): Float64Array {
    const column = this.arrays[name]
    const values = new Float64Array(rows.length)
    for (let i = 0; i < rows.length; i++) values[i] = column[rows[i]!]!
    return values
  }

  /** Length of the union of all attempts' spans. One whose clock was set back in between counts for nothing. */
  activeMs(): number {
    const { start, end } = this.arrays
    const sane = Uint32Array.from({ length: this.rows }, (_, row) => row).filter(
      (row) => end[row]! >= start[row]!,
    )
    const starts = this.of('start', sane).sort()
    const ends = this.of('end', sane).sort()
    let active = 0
    let running = 0
    let since = 0
    let at = 0
    for (const finish of ends) {
      while (at < starts.length && starts[at]! <= finish) {
        if (running === 0) since = starts[at]!
        running++
        at++
      }
      running--
      if (running === 0) active += finish - since
    }
    return active
  }
}

/** Gives the first of equal plain values in place of each, as long as there are few different ones. */
class Shared<T> {
  private readonly seen = new Map<string, T>()
  private readonly most = 2_000

  of(value: T): T {
    const key = JSON.stringify(value)
    const found = this.seen.get(key)
    if (found !== undefined) return found
    if (this.seen.size < this.most) this.seen.set(key, value)
    return value
  }
}

const ledgerNames = ['agent', 'simulator', 'judge'] as const
type LedgerName = (typeof ledgerNames)[number]

/** What is kept of every attempt, whether or not it counts in the end. */
class Totals {
  attempts = 0
  readonly columns = new Columns()
  /** In-band tool errors and flags of the few attempts that have any, by row. */
  readonly toolErrors = new Map<number, Record<string, number>>()
  readonly flags = new Map<number, Record<string, number>>()
  private readonly verdicts = new Shared<VerdictSummary | null>()
  private readonly counts = new Shared<Record<string, number>>()
  readonly stops = new StopReasons()
  faults = new FaultCounter()
  usage: Partial<Record<LedgerName, Usage>> = {}
  ledgers: Partial<Record<LedgerName, Ledger>> = {}
  total: Ledger = { usd: 0, knownUsd: 0, unknownAttempts: 0 }
  start: string | null = null
  end: string | null = null

  add(attempt: AttemptRecord): AttemptDigest {
    this.attempts++
    const row = this.columns.add(attempt)
    const { toolErrors, flags } = attempt.counts
    if (toolErrors !== undefined) this.toolErrors.set(row, this.counts.of(toolErrors))
    if (flags !== undefined) this.flags.set(row, this.counts.of(flags))
    if (attempt.fault !== null) this.faults.add(attempt.fault)
    else if (attempt.outcome === 'agent_error') this.stops.keep(row, attempt.stop)
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
    const { fault, outcome } = attempt
    return { row, verdict: this.verdicts.of(attempt.verdict), fault, faultAtEnd: fault, outcome }
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

/** Sorts `values` in place. */
function percentiles(values: Float64Array): Percentiles {
  const sorted = values.sort()
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
  const fold = await foldRun<AttemptDigest>(dir, (attempt) => totals.add(attempt))
  return summaryOf(fold, totals, minCoverage)
}

function summaryOf(fold: RunFold<AttemptDigest>, totals: Totals, minCoverage: number): RunSummary {
  const { manifest, states } = fold
  const status: Record<OrderStatus, number> = { scored: 0, unscored: 0, faulted: 0, cancelled: 0, pending: 0 }
  const { tasks, place } = placesByTask(fold)
  const rewardScores = new Float64Array(states.length).fill(Number.NaN)
  const successScores = new Float64Array(states.length).fill(Number.NaN)
  const outcomes: Partial<Record<Outcome, number>> = {}
  const faults = new FaultCounter()
  const unscored = new Map<string, { component: string; reason: string; count: number }>()
  const rewardMeans = Object.keys(manifest.environment.rewards).map(
    (name) => [name, new RunningMean()] as const,
  )
  const metricMeans = manifest.environment.metrics.map((name) => [name, new RunningMean()] as const)
  const finished: number[] = []
  /** Those among them that are no faults. */
  const played: number[] = []
  const toolErrors: Record<string, number> = {}
  const flags: Record<string, number> = {}
  let tries = 0
  let tried = 0

  for (const [index, state] of states.entries()) {
    const { chosen } = state
    status[state.status]++
    tries += state.tries
    if (state.tries > 0) tried++
    if (state.status === 'scored' && chosen?.verdict != null) {
      const { reward, success } = chosen.verdict
      rewardScores[place[index]!] = reward ?? Number.NaN
      successScores[place[index]!] = success === null ? Number.NaN : Number(success)
    }
    if (state.status === 'pending' || chosen === undefined) continue
    if (state.status !== 'faulted' && chosen.outcome !== null) {
      outcomes[chosen.outcome] = (outcomes[chosen.outcome] ?? 0) + 1
    }
    if (state.status === 'cancelled') continue
    finished.push(chosen.row)
    if (state.status === 'faulted' && chosen.fault !== null) {
      faults.add(chosen.fault)
      // What is told as the order's fault is not told again as one that was got over.
      if (chosen.faultAtEnd !== null) totals.faults.add(chosen.faultAtEnd, -1)
    }
    for (const flag of Object.keys(totals.flags.get(chosen.row) ?? {})) flags[flag] = (flags[flag] ?? 0) + 1
    if (state.status === 'faulted') continue
    played.push(chosen.row)
    addCounts(toolErrors, totals.toolErrors.get(chosen.row))
    if (chosen.verdict === null) continue
    const { verdict } = chosen
    if (state.status === 'unscored') {
      const { component, reason } = verdict.unscored ?? { component: '', reason: 'no_reason_given' }
      const key = `${component}\n${reason}`
      const found = unscored.get(key)
      if (found !== undefined) found.count++
      else unscored.set(key, { component, reason, count: 1 })
    }
    for (const [name, running] of rewardMeans) running.add(verdict.rewards[name] ?? null)
    for (const [name, running] of metricMeans) running.add(verdict.metrics[name] ?? null)
  }

  // An order that can no longer be read was ordered all the same, and is open.
  const { lost } = fold
  const orders = states.length + lost
  status.pending += lost
  const component = ({ mean, n }: RunningMean): ComponentMean => ({ mean, n, planned: orders })
  const byTask = (scores: Float64Array): TaskScores => ({
    *[Symbol.iterator]() {
      for (const [from, to] of tasks) yield scores.subarray(from, to)
    },
  })
  const largest = largestReward(manifest.environment.rewards)
  const reward = estimate('mean', byTask(rewardScores), { minCoverage, lost, largest })
  const again = { scope: 'these tasks again', minCoverage, lost } as const
  const declared = manifest.environment.success
  const rate = (options: Parameters<typeof estimateRate>[1]): RateEstimate => {
    const found = estimateRate(byTask(successScores), options)
    return declared
      ? found
      : { ...found, value: null, interval: [0, 1], bounds: null, reason: 'not_declared' }
  }
  const success = rate({ minCoverage, lost })
  const rows = Uint32Array.from(finished)
  const times = (name: ColumnName) => percentiles(totals.columns.of(name, rows))
  const ofPlayed = Uint32Array.from(played)
  const done = (name: ColumnName) => percentiles(totals.columns.of(name, ofPlayed))
  const turns = done('turns')
  const { agent = { usd: 0, knownUsd: 0, unknownAttempts: 0 }, simulator, judge } = totals.ledgers
  const { id, created, quintain, node, environment, rubric, seats, seed, limits, isolation, floor } = manifest
  const agentErrors = totals.stops.list(finished)
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
      ...(floor === undefined ? {} : { floor }),
    },
    orders,
    status,
    complete: status.pending === 0 && status.cancelled === 0,
    tasks: { planned: tasks.length, scored: reward.tasks.scored },
    repeats: {
      min: tasks.reduce((least, [from, to]) => Math.min(least, to - from), tasks.length === 0 ? 0 : orders),
      max: tasks.reduce((most, [from, to]) => Math.max(most, to - from), 0),
    },
    coverage: orders === 0 ? null : status.scored / orders,
    minCoverage,
    reward,
    success,
    tries: success.value === null ? null : triesOf(byTask(successScores)),
    again: { reward: estimate('mean', byTask(rewardScores), again), success: rate(again) },
    rewards: Object.fromEntries(
      rewardMeans.map(([name, running]) => [
        name,
        { ...component(running), ...manifest.environment.rewards[name]! },
      ]),
    ),
    metrics: Object.fromEntries(metricMeans.map(([name, running]) => [name, component(running)])),
    outcomes,
    ...(agentErrors.length === 0 ? {} : { agentErrors }),
    faults: faults.list(),
    retriedFaults: totals.faults.list(),
    unscored: [...unscored.values()].sort((a, b) => b.count - a.count),
    attempts: { total: totals.attempts, retries: tries - tried },
    time: {
      rollout: times('wallMs'),
      agent: times('agentMs'),
      model: times('modelMs'),
      wait: times('waitMs'),
      grading: times('gradeMs'),
    },
    turns: {
      mean: played.length === 0 ? null : turns.total / played.length,
      p50: turns.p50,
      p95: turns.p95,
      max: turns.max,
    },
    toolCalls: done('toolCalls').total,
    toolErrors,
    modelRetries: times('modelRetries').total,
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
    activeMs: totals.columns.activeMs(),
    warnings: healthWarnings({
      finished: finished.length,
      truncated,
      empty: flags.empty_output ?? 0,
      failed: outcomes.agent_error ?? 0,
      failure: agentErrors[0]?.reason,
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
  const solutions = solutionsNote(summary.run.seats)
  if (solutions !== undefined) summary.warnings.push({ code: 'holds_solutions', message: solutions })
  if (fold.issues.length > 0) {
    summary.warnings.push({
      code: 'journal_damaged',
      message: damageText(fold, status.pending + status.cancelled),
    })
  }
  return summary
}

/** What is wrong with the files of a run, in a sentence. */
export function damageText(
  { issues, lost }: Pick<RunFold<Folded>, 'issues' | 'lost'>,
  /** Orders that are not finished, lost ones among them. */
  open: number,
): string {
  const places = issues.length === 1 ? '1 damaged place' : `${issues.length} damaged places`
  const files = [...new Set(issues.map(({ file }) => file))].join(', ')
  const orders = lost === 1 ? '1 order' : `${lost} orders`
  const gone = lost === 0 ? '' : ` ${orders} can no longer be read, and count as open;`
  const rest =
    open === 0 ? 'every order is finished all the same.' : '`npx quintain resume` runs again what they held.'
  return `${places} in the run's files (${files}) were skipped;${gone} ${rest}`
}

/** Puts the orders of a task side by side: where each order goes, and from where to where each task reaches. */
function placesByTask({ states }: RunFold<Folded>): { tasks: [number, number][]; place: Uint32Array } {
  const numbers = new Map<string, number>()
  const sizes: number[] = []
  const taskOf = new Uint32Array(states.length)
  for (const [index, { order }] of states.entries()) {
    let task = numbers.get(order.task)
    if (task === undefined) {
      task = sizes.length
      numbers.set(order.task, task)
      sizes.push(0)
    }
    taskOf[index] = task
    sizes[task]!++
  }
  let from = 0
  const tasks = sizes.map((size): [number, number] => {
    from += size
    return [from - size, from]
  })
  const next = Uint32Array.from(tasks, ([start]) => start)
  return { tasks, place: taskOf.map((task) => next[task]!++) }
}
