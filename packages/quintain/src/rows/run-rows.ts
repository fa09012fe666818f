import {
  type AttemptRecord,
  type Folded,
  foldRun,
  type ManifestRecord,
  type OrderStatus,
  QuintainError,
  type RunIssue,
  readTokens,
  readTrajectory,
  type VerdictSummary,
} from '../core/index.ts'
import { requireRows } from './no-rows.ts'
import type {
  Break,
  BreakCause,
  ChatRow,
  Refusal,
  RefusalReason,
  RowsReport,
  TokenRow,
} from './training-row.ts'
import { emptyReport, type RowsOptions, trainingRows } from './training-rows.ts'

export interface RunRowsOptions extends Omit<RowsOptions, 'tokens' | 'verdict'> {
  /** Leave out attempts whose reward is lower, and those that have none. */
  minReward?: number
  /** Gets each row as it is made; the next waits for it. */
  onRow?: (row: TokenRow | ChatRow) => void | Promise<void>
}

/**
 * Why an attempt gives no rows: its order is not done, it was not scored, its texts were kept in part and rows of text are
 * asked for, or what is on disk of it cannot be read.
 */
export type LeftOut = Exclude<OrderStatus, 'scored'> | 'below_min_reward' | 'record_cut' | 'damaged'

/** Where an example is: attempt and order, and the call in its trajectory. */
interface Place {
  attempt: string
  order: string
}

export interface Counted<Example> {
  count: number
  /** The first few. */
  examples: Example[]
}

/** What became of the calls of a run. Rows, tokens and calls are of the attempts that count and are not left out. */
export interface RunRowsReport extends Pick<RowsReport, 'calls' | 'rows' | 'tokens' | 'cut'> {
  schema: 'quintain.rows-report'
  v: 1
  run: { dir: string; id: string; environment: string; policy: string | undefined }
  seat: string
  attempts: {
    withRows: number
    withoutRows: number
    leftOut: Partial<Record<LeftOut, number>>
  }
  breaks: Partial<Record<BreakCause, Counted<Place & Break>>>
  refused: Partial<Record<RefusalReason, Counted<Place & Refusal>>>
  issues: RunIssue[]
}

const mostExamples = 3

/** What is kept of an attempt line: runs have a hundred thousand of them. */
interface Slim extends Folded {
  id: string
  parts: Pick<AttemptRecord['parts'], 'trajectory' | 'tokens'>
  /** Its longer texts were cut when it was recorded. */
  cut?: boolean
}

/**
 * Training rows of the attempts of a run that count, one attempt at a time. Reads what is publishable and nothing else.
 *
 * Rows of tokens are for learning from rewards: they need a scored attempt. Rows of text are kept where only the grading
 * failed, and dropped where the attempt itself did. Throws what `foldRun` throws, and `no_sampled_tokens` when rows are
 * asked for (`onRow`) and there is none.
 */
export async function runRows(dir: string, options: RunRowsOptions = {}): Promise<RunRowsReport> {
  const fold = await foldRun<Slim>(
    dir,
    ({ id, verdict, fault, outcome, counts, parts: { trajectory, tokens } }) => ({
      id,
      verdict: verdict && { ...verdict, rewards: {}, metrics: {} },
      fault,
      outcome,
      parts: { trajectory, ...(tokens === undefined ? {} : { tokens }) },
      ...(counts.flags?.['record_cut'] === undefined ? {} : { cut: true }),
    }),
  )
  const { minReward, onRow, ...rowsOptions } = options
  const { seat = 'agent', textOnly = false } = options
  const report = reportOf(fold.dir, fold.manifest, seat, fold.issues)
  const leaveOut = (why: LeftOut, count = 1) => {
    report.attempts.leftOut[why] = (report.attempts.leftOut[why] ?? 0) + count
  }
  if (fold.lost > 0) leaveOut('pending', fold.lost)
  for (const { order, status, chosen } of fold.states) {
    const why = chosen === undefined ? 'pending' : whyLeftOut(status, chosen, { seat, textOnly, minReward })
    if (why !== undefined) {
      leaveOut(why)
      continue
    }
    if (textOnly && chosen!.cut) {
      leaveOut('record_cut')
      continue
    }
    const found = await rowsOf(dir, chosen!, rowsOptions)
    if (found === undefined) {
      leaveOut('damaged')
      continue
    }
    report.attempts[found.rows.length > 0 ? 'withRows' : 'withoutRows']++
    add(report, found.report, { attempt: chosen!.id, order: order.id })
    for (const row of found.rows) await onRow?.(row)
  }
  if (onRow !== undefined) {
    const refused = Object.entries(report.refused).map(([reason, { count }]) => [reason, count])
    requireRows({ ...report, refused: Object.fromEntries(refused), manifest: fold.manifest })
  }
  return report
}

/** Whether and why an attempt is not trained on; undefined for one that is. */
export function whyLeftOut(
  status: OrderStatus,
  { verdict, fault }: Pick<Folded, 'verdict' | 'fault'>,
  options: { seat?: string; textOnly?: boolean; minReward?: number | undefined },
): LeftOut | undefined {
  const { seat = 'agent', textOnly = false, minReward } = options
  const gradingFailed = status === 'unscored' || fault?.owner === 'grader' || fault?.owner === 'judge'
  if (status !== 'scored' && !(textOnly && minReward === undefined && gradingFailed)) return status
  if (minReward === undefined) return undefined
  return (rewardOf(verdict, seat) ?? Number.NEGATIVE_INFINITY) < minReward ? 'below_min_reward' : undefined
}

function rewardOf(verdict: VerdictSummary | null, seat: string): number | null | undefined {
  return seat === 'agent' ? verdict?.reward : verdict?.seats?.[seat]
}

async function rowsOf(dir: string, attempt: Slim, options: RowsOptions) {
  try {
    const trajectory = await readTrajectory(dir, attempt)
    const tokens = options.textOnly ? undefined : await readTokens(dir, attempt)
    return trainingRows(trajectory, { ...options, tokens, verdict: attempt.verdict })
  } catch (error) {
    if (QuintainError.isInstance(error) && error.code === 'run_corrupt') return undefined
    throw error
  }
}

function reportOf(dir: string, manifest: ManifestRecord, seat: string, issues: RunIssue[]): RunRowsReport {
  const { breaks: _, refused: __, ...counts } = emptyReport()
  const { id, environment, seats } = manifest
  return {
    schema: 'quintain.rows-report',
    v: 1,
    run: { dir, id, environment: environment.name, policy: seats[seat]?.policy },
    seat,
    attempts: { withRows: 0, withoutRows: 0, leftOut: {} },
    ...counts,
    breaks: {},
    refused: {},
    issues,
  }
}

function add(report: RunRowsReport, one: RowsReport, place: Place): void {
  addCounts(report.calls, one.calls)
  addCounts(report.rows, one.rows)
  addCounts(report.tokens, one.tokens)
  report.cut += one.cut
  for (const found of one.breaks)
    report.breaks[found.cause] = counted(report.breaks[found.cause], place, found)
  for (const found of one.refused)
    report.refused[found.reason] = counted(report.refused[found.reason], place, found)
}

function addCounts<Name extends string>(to: Record<Name, number>, from: Record<Name, number>): void {
  for (const name in from) to[name] += from[name]
}

function counted<Found>(
  so: Counted<Place & Found> | undefined,
  place: Place,
  found: Found,
): Counted<Place & Found> {
  const { count, examples } = so ?? { count: 0, examples: [] }
  if (examples.length < mostExamples) examples.push({ ...place, ...found })
  return { count: count + 1, examples }
}
