import {
  type AttemptRecord,
  addCost,
  type Folded,
  foldRun,
  type ManifestRecord,
  type OrderStatus,
  type VerdictSummary,
} from '../core/index.ts'
import { quantile } from '../stats/index.ts'
import { damageText, type Ledger } from './summarize.ts'

/** What a run says of one task. */
export interface ScoredTask {
  id: string
  /** Digest of the task's public part. */
  digest: string
  /** The same without the id and the split: two tasks that share it are one task under two names. */
  content: string | undefined
  /** Rollouts that were ordered. */
  orders: number
  /** Rewards of those that have one. */
  rewards: number[]
  /** Zero or one of those whose success is known. */
  successes: number[]
}

/** What a comparison needs of a run: its plan and its scores by task. */
export interface ScoredRun {
  dir: string
  manifest: ManifestRecord
  /** Number of the last request's rollouts of each task, and its split, as they were asked for. */
  split: string | undefined
  orders: number
  status: Record<OrderStatus, number>
  tasks: Map<string, ScoredTask>
  /** US dollars of all attempts, retried ones too, with those of judges and simulated users. */
  cost: Ledger
  /** Orders that were tried at least once; what the cost is divided by. */
  tried: number
  /** Milliseconds of the attempts that count. */
  wallMs: { p50: number | null; p95: number | null }
  /** Orders that were placed and can no longer be read; they are among `orders`, and pending. */
  lost: number
  /** What is damaged in its files, in a sentence; undefined where nothing is. */
  damage: string | undefined
}

interface Kept extends Folded {
  wallMs: number
}

/** Of a verdict the two numbers that are compared. */
function bare(verdict: VerdictSummary | null): VerdictSummary | null {
  return verdict && { ...verdict, rewards: {}, metrics: {} }
}

function addCosts(ledger: Ledger, costUsd: AttemptRecord['costUsd']): void {
  let sum: number | null = 0
  for (const usd of [costUsd.agent, costUsd.simulator, costUsd.judge]) {
    if (usd === undefined) continue
    sum = addCost(sum, usd)
    ledger.knownUsd += usd ?? 0
  }
  ledger.usd = addCost(ledger.usd, sum)
  if (sum === null) ledger.unknownAttempts++
}

/** Reads the plan and the attempt lines of a run, never a trajectory. Throws what `foldRun` throws. */
export async function readScoredRun(dir: string): Promise<ScoredRun> {
  const cost: Ledger = { usd: 0, knownUsd: 0, unknownAttempts: 0 }
  const fold = await foldRun<Kept>(dir, ({ verdict, fault, outcome, costUsd, timing }) => {
    addCosts(cost, costUsd)
    return { verdict: bare(verdict), fault, outcome, wallMs: timing.wallMs }
  })
  const status: Record<OrderStatus, number> = { scored: 0, unscored: 0, faulted: 0, cancelled: 0, pending: 0 }
  const tasks = new Map<string, ScoredTask>()
  const took: number[] = []
  let tried = 0
  for (const state of fold.states) {
    const { order, chosen } = state
    status[state.status]++
    if (state.tries > 0) tried++
    let task = tasks.get(order.task)
    if (task === undefined) {
      const { taskDigest, contentDigest } = order
      task = {
        id: order.task,
        digest: taskDigest,
        content: contentDigest,
        orders: 0,
        rewards: [],
        successes: [],
      }
      tasks.set(order.task, task)
    }
    task.orders++
    if (chosen !== undefined && state.status !== 'pending' && state.status !== 'cancelled')
      took.push(chosen.wallMs)
    if (state.status !== 'scored' || chosen?.verdict?.reward == null) continue
    task.rewards.push(chosen.verdict.reward)
    if (chosen.verdict.success !== null) task.successes.push(Number(chosen.verdict.success))
  }
  status.pending += fold.lost
  const sorted = Float64Array.from(took).sort()
  return {
    dir,
    manifest: fold.manifest,
    split: (fold.requests.at(-1) ?? fold.manifest.request).split,
    orders: fold.states.length + fold.lost,
    status,
    tasks,
    cost,
    tried,
    wallMs: { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) },
    lost: fold.lost,
    damage: fold.issues.length === 0 ? undefined : damageText(fold, status.pending + status.cancelled),
  }
}
