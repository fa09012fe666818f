import type { Seat, TrajectoryRecord, VerdictSummary } from '../core/index.ts'
import { buildChatRows } from './chat-rows.ts'
import { type CallClass, callClasses, classifyCalls } from './classify-calls.ts'
import { buildTokenRows } from './token-rows.ts'
import type { ChatRow, RowsReport, TokenRow } from './training-row.ts'

export interface RowsOptions {
  /** The attempt's part of `tokens.bin` (`readTokens`). */
  tokens?: Uint8Array | undefined
  /** Where the rows' reward comes from. */
  verdict?: Pick<VerdictSummary, 'reward' | 'seats'> | null | undefined
  /** `agent` when absent. */
  seat?: Seat
  /** Rows of messages instead of tokens. */
  textOnly?: boolean
  /** Which calls are trained on: `kept` and `branch` when absent. */
  classes?: readonly CallClass[]
  /** Most tokens of a row; what is beyond is cut off. */
  maxLength?: number
  /** Leave out rows that were cut, or whose last output ended for its length. */
  dropTruncated?: boolean
}

/**
 * Training rows of a seat in one attempt, and what became of each of its calls. Pure: the same records give the same rows.
 *
 * Each token that a call sampled is trained on in exactly one row. A row goes on as long as every prompt begins with
 * exactly what came before it, and a new one begins where that breaks; `report.breaks` says where and why. Calls whose
 * tokens are not known as they were sampled are refused, never guessed.
 *
 * `weight` is per attempt, not per row: the trained tokens of the row over those of all rows of the attempt (of messages,
 * for rows of text). Weights of an attempt add up to 1, and the sum of `weight` times a row's mean loss is the mean over
 * the attempt's trained tokens, however many rows it broke into.
 *
 * @example const { rows, report } = trainingRows(await readTrajectory(dir, attempt), { tokens: await readTokens(dir, attempt) })
 */
export function trainingRows(
  trajectory: TrajectoryRecord,
  options?: RowsOptions & { textOnly?: false },
): { rows: TokenRow[]; report: RowsReport }
export function trainingRows(
  trajectory: TrajectoryRecord,
  options: RowsOptions & { textOnly: true },
): { rows: ChatRow[]; report: RowsReport }
export function trainingRows(
  trajectory: TrajectoryRecord,
  options?: RowsOptions,
): { rows: (TokenRow | ChatRow)[]; report: RowsReport }
export function trainingRows(
  trajectory: TrajectoryRecord,
  options: RowsOptions = {},
): { rows: (TokenRow | ChatRow)[]; report: RowsReport } {
  const { seat = 'agent', classes = ['kept', 'branch'], verdict, textOnly } = options
  const report = emptyReport()
  const trained = new Set<number>()
  for (const [at, found] of classifyCalls(trajectory, seat).entries()) {
    if (found === undefined) continue
    report.calls[found]++
    if (classes.includes(found) && trajectory.calls[at]!.output >= 0) trained.add(at)
  }
  const rows = textOnly
    ? chatRowsOf(trajectory, trained, options, report)
    : tokenRowsOf(trajectory, trained, options, report)
  const reward = seat === 'agent' ? verdict?.reward : verdict?.seats?.[seat]
  const { attempt, order, task, calls } = trajectory
  const all = rows.reduce((sum, { trains }) => sum + trains, 0)
  return {
    rows: rows.map(({ end, trains, own }, row): TokenRow | ChatRow => {
      report.rows[own.exactness]++
      const branch = calls[end]!.output
      const origin = { attempt, order, task, seat, row, branch, reward: reward ?? null, weight: trains / all }
      return { ...origin, ...own }
    }),
    report,
  }
}

type Own<Row> = Omit<Row, 'attempt' | 'order' | 'task' | 'seat' | 'row' | 'branch' | 'reward' | 'weight'>

/** A row but for what all rows of the attempt share; `trains` is how much of it is trained on. */
interface Weighed<Row> {
  end: number
  trains: number
  own: Own<Row>
}

function tokenRowsOf(
  trajectory: TrajectoryRecord,
  trained: ReadonlySet<number>,
  { tokens, maxLength = Number.POSITIVE_INFINITY, dropTruncated = false }: RowsOptions,
  report: RowsReport,
): Weighed<TokenRow>[] {
  const built = buildTokenRows(trajectory, trained, tokens)
  report.breaks = built.breaks
  report.refused = built.refused
  return built.rows.flatMap((row): Weighed<TokenRow>[] => {
    row.cutTo(maxLength)
    const trains = row.sampled
    const truncated = row.cut || endedForLength(trajectory, row.end)
    if (trains === 0 || (dropTruncated && truncated)) {
      report.refused.push({ call: row.end, reason: trains === 0 ? 'cut_away' : 'truncated' })
      return []
    }
    const { spans, ...arrays } = row.arrays()
    if (row.cut) report.cut++
    for (const { start, end, source } of spans) report.tokens[source] += end - start
    const exactness = row.calls.length === 1 ? 'sampled' : 'prefix-merged'
    return [{ end: row.end, trains, own: { exactness, ...arrays, spans, truncated } }]
  })
}

function chatRowsOf(
  trajectory: TrajectoryRecord,
  trained: ReadonlySet<number>,
  { dropTruncated = false }: RowsOptions,
  report: RowsReport,
): Weighed<ChatRow>[] {
  return buildChatRows(trajectory, trained).flatMap(({ end, tools, ...row }): Weighed<ChatRow>[] => {
    const truncated = endedForLength(trajectory, end)
    if (dropTruncated && truncated) {
      report.refused.push({ call: end, reason: 'truncated' })
      return []
    }
    const trains = row.trained.filter(Boolean).length
    const told = tools === undefined || tools.length === 0 ? {} : { tools }
    return [{ end, trains, own: { exactness: 'text-only', ...row, ...told, truncated } }]
  })
}

function endedForLength({ calls }: TrajectoryRecord, at: number): boolean {
  return calls[at]!.finish === 'length'
}

/** A report of nothing. */
export function emptyReport(): RowsReport {
  return {
    calls: Object.fromEntries(callClasses.map((name) => [name, 0])) as RowsReport['calls'],
    rows: { sampled: 0, 'prefix-merged': 0, 'text-only': 0 },
    tokens: { sampled: 0, environment: 0, prompt: 0 },
    breaks: [],
    refused: [],
    cut: 0,
  }
}
