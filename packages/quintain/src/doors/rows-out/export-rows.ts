import {
  QuintainError,
  type RunIssue,
  readTokens,
  readTrajectory,
  type TrajectoryRecord,
} from '../../core/index.ts'
import { servedNote } from '../../rows/index.ts'
import { hasImages } from './chat-wire.ts'
import { type Chosen, chooseAttempts, type NoRow } from './choose-attempts.ts'
import { type Lineage, type RunLineage, runLineage, type TrainerForm } from './lineage.ts'
import type { NoPair } from './preference-rows.ts'
import { filterText, type RowFilter } from './row-filter.ts'
import { rowMakers, type TrainerRow } from './row-makers.ts'
import { readGroups, type SourceRun } from './task-groups.ts'
import type { TinkerLoss } from './tinker-rows.ts'

export interface ExportRowsOptions {
  form: TrainerForm
  /** `success` for fine-tuning when absent, `all` for the others. */
  filter?: RowFilter | undefined
  /** Most attempts of a task, or pairs. */
  maxPerTask?: number | undefined
  /** Of every so many attempts at a task, the best one alone. */
  bestOfN?: number | undefined
  /** Least difference of rewards within a pair; any when absent. */
  margin?: number | undefined
  /** What datums are for; `rl` when absent. */
  loss?: TinkerLoss | undefined
  seat?: string | undefined
  maxLength?: number | undefined
  dropTruncated?: boolean | undefined
  /** Gets each row as it is made; the next waits for it. */
  onRow?: ((row: TrainerRow) => void | Promise<void>) | undefined
}

/** What became of the attempts of some runs. */
export interface ExportRowsReport {
  schema: 'quintain.rows-export'
  v: 1
  form: TrainerForm
  runs: { dir: string; id: string; environment: string; policy: string | null }[]
  seat: string
  filter: string
  tasks: { withRows: number; withoutRows: number }
  /** Attempts that rows were made of, and why of the others none were. */
  attempts: {
    used: number
    leftOut: Partial<Record<NoRow, number>>
    /** Of ART: those of which a choice has no tokens that are known as they were sampled. */
    withoutTokens?: number
  }
  rows: number
  /** Of preference rows: pairs by what became of them. */
  pairs?: { made: number } & Partial<Record<NoPair, number>>
  issues: RunIssue[]
}

/**
 * Makes rows for trainers of the attempts of some runs, a task after the other. Only what is publishable is read; a fault
 * and an attempt without a score are never a row with a number. What is left out is counted by why.
 *
 * Throws what `foldRun` throws, `usage` for options that do not go together, and, where rows are asked for (`onRow`) and
 * there are none, `no_sampled_tokens` or `export_refused`.
 *
 * @example await exportRows(['runs/a', 'runs/b'], { form: 'preference', margin: 0.5, onRow: (row) => rows.push(row) })
 */
export async function exportRows(
  dirs: readonly string[],
  options: ExportRowsOptions,
): Promise<ExportRowsReport> {
  const { form, seat = 'agent', loss = 'rl', margin = 0, bestOfN, maxPerTask, onRow } = options
  const filter = options.filter ?? { kind: form === 'sft' ? 'success' : 'all' }
  checkTogether({ ...options, loss, filter })
  const byPolicy = form === 'tinker' || form === 'trl' || form === 'art'
  const { runs, groups, lost, issues } = await readGroups(dirs, { seat, byPolicy })
  if (filter.kind === 'success') checkSuccess(runs, seat)
  const report = reportOf(runs, { form, seat, filter: filterText(filter), issues })
  const { leftOut } = report.attempts
  const leaveOut = (why: NoRow, count = 1) => {
    leftOut[why] = (leftOut[why] ?? 0) + count
  }
  if (lost > 0) leaveOut('pending', lost)
  const unscored = form === 'sft' && filter.kind === 'all' && bestOfN === undefined
  const shared = { seat, filter, bestOfN }
  const lineageOf = ({ run, order }: Chosen): RunLineage => runLineage(form, run.manifest, order, shared)
  // Of a pair the better one is filtered, and pairs are counted, not attempts.
  const choosing =
    form === 'preference'
      ? { ...shared, filter: { kind: 'all' as const }, maxPerTask: undefined }
      : { ...shared, maxPerTask }
  const { maxLength, dropTruncated } = options
  const rows = {
    seat,
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(dropTruncated === undefined ? {} : { dropTruncated }),
  }
  for (const group of groups) {
    const chosen = chooseAttempts(group, { ...choosing, unscored }, leaveOut)
    let made = 0
    for await (const row of rowMakers[form](group, {
      ...{ seat, filter, margin, loss, maxPerTask, rows, chosen, leaveOut },
      read: (member) => read(member, form, leaveOut),
      pair(what) {
        if (report.pairs !== undefined) report.pairs[what] = (report.pairs[what] ?? 0) + 1
      },
      runLineage: lineageOf,
      lineage: (member) => ({ ...lineageOf(member), ...attemptLineage(member) }),
      withoutTokens() {
        report.attempts.withoutTokens = (report.attempts.withoutTokens ?? 0) + 1
      },
      used(count) {
        report.attempts.used += count
      },
    })) {
      made++
      await onRow?.(row)
    }
    report.rows += made
    report.tasks[made > 0 ? 'withRows' : 'withoutRows']++
  }
  if (onRow !== undefined && report.rows === 0) throw noRows(report, runs, margin)
  return report
}

function attemptLineage({ run, order, attempt, reward, success }: Chosen): Omit<Lineage, keyof RunLineage> {
  const { manifest, policy } = run
  return { run: manifest.id, attempt: attempt.id, order: order.id, policy, reward, success }
}

async function read(member: Chosen, form: TrainerForm, leaveOut: (why: NoRow) => void) {
  const { run, attempt } = member
  if (attempt.cut && form !== 'tinker') {
    leaveOut('record_cut')
    return undefined
  }
  let trajectory: TrajectoryRecord
  let tokens: Uint8Array | undefined
  try {
    trajectory = await readTrajectory(run.dir, attempt)
    if (form === 'tinker' || form === 'trl' || form === 'art') tokens = await readTokens(run.dir, attempt)
  } catch (error) {
    if (!QuintainError.isInstance(error) || error.code !== 'run_corrupt') throw error
    leaveOut('damaged')
    return undefined
  }
  if (hasImages(trajectory.nodes.map(({ message }) => message))) {
    leaveOut('images')
    return undefined
  }
  return { trajectory, tokens }
}

function reportOf(
  runs: readonly SourceRun[],
  told: Pick<ExportRowsReport, 'form' | 'seat' | 'filter' | 'issues'>,
): ExportRowsReport {
  return {
    schema: 'quintain.rows-export',
    v: 1,
    runs: runs.map(({ dir, manifest: { id, environment }, policy }) => ({
      dir,
      id,
      environment: environment.name,
      policy,
    })),
    ...told,
    tasks: { withRows: 0, withoutRows: 0 },
    attempts: { used: 0, leftOut: {} },
    rows: 0,
    ...(told.form === 'preference' ? { pairs: { made: 0 } } : {}),
  }
}

const usage = (message: string) => new QuintainError('usage', message)

/** Forms that a trainer takes the mean of: what is missing from a group would be missing from it. */
function checkTogether({
  form,
  filter,
  bestOfN,
  margin,
  loss,
  maxLength,
  dropTruncated,
}: ExportRowsOptions & { filter: RowFilter; loss: TinkerLoss }): void {
  const grouped = form === 'art' || form === 'trl'
  if (grouped && filter.kind !== 'all')
    throw usage(
      `Rows for ${form} are groups, whose mean the trainer takes, so all scored attempts are in them: leave the filter out.`,
    )
  if (bestOfN !== undefined && (grouped || form === 'preference' || (form === 'tinker' && loss === 'rl')))
    throw usage(
      'The best of n is for fine-tuning (sft, or tinker with the loss cross_entropy); others need the worse ones too.',
    )
  if (margin !== undefined && form !== 'preference')
    throw usage('A margin is of preference pairs; it goes with the form preference.')
  if (margin !== undefined && !(margin >= 0 && Number.isFinite(margin)))
    throw usage('A margin is a number from 0.')
  if (loss !== 'rl' && form !== 'tinker') throw usage('A loss is of datums; it goes with the form tinker.')
  const tokens = form === 'tinker' || form === 'trl'
  if (maxLength !== undefined && !tokens)
    throw usage(`The greatest length counts tokens, and rows for ${form} have none to cut.`)
  if (dropTruncated && form === 'preference')
    throw usage('Pairs are of whole conversations, so nothing truncated is dropped from them; leave it out.')
}

/** Throws `usage` where no run says what success is: nothing would pass. */
function checkSuccess(runs: readonly SourceRun[], seat: string): void {
  if (seat === 'agent' && runs.some(({ manifest }) => manifest.environment.success)) return
  const who = seat === 'agent' ? (runs[0]?.manifest.environment.name ?? 'the run') : `the seat ${seat}`
  throw usage(
    `Nothing says what success of ${who} is. Choose by reward (--filter reward --threshold 0.5), or take all (--filter all).`,
  )
}

function noRows(
  { form, filter, seat, attempts: { leftOut }, pairs }: ExportRowsReport,
  runs: readonly SourceRun[],
  margin: number,
): QuintainError {
  const { made: _, ...unmade } = pairs ?? { made: 0 }
  const counts = Object.entries({ ...leftOut, ...unmade }).map(([why, count]) => `${why} ${count}`)
  const what = `There is no row for ${form} with the filter ${filter} (${counts.join(', ') || 'no attempt'}).`
  const facts = { leftOut, pairs: unmade }
  const unread = (leftOut.damaged ?? 0) + (leftOut.images ?? 0) + (leftOut.record_cut ?? 0)
  if ((leftOut.unpaired ?? 0) > 0 && Object.keys(unmade).length === 0 && unread === 0) {
    const by = margin > 0 ? ` by ${margin} or more` : ''
    const better = filter === 'all' ? '' : `, the better one passing the filter ${filter}`
    const advice = margin > 0 ? 'Ask for a smaller margin, or play' : 'Play'
    return new QuintainError(
      'export_refused',
      `There is no pair: no two attempts at one task have rewards that differ${by}${better} (${counts.join(', ')}). ${advice} each task more often.`,
      { facts },
    )
  }
  const served = runs.map(({ manifest }) => servedNote(manifest, seat)).find((note) => note !== undefined)
  if (served !== undefined && (leftOut.no_calls ?? 0) > 0)
    return new QuintainError('no_sampled_tokens', `${what} ${served}`, { facts })
  if ((leftOut.no_tokens ?? 0) + (leftOut.no_calls ?? 0) > 0)
    return new QuintainError(
      'no_sampled_tokens',
      `${what} Rows of tokens need a server that gives ids and log-probabilities, such as vLLM or SGLang, through the gateway; sft and preference need messages alone.`,
      { facts },
    )
  return new QuintainError('export_refused', `${what} docs/rows.md says what each reason means.`, { facts })
}
