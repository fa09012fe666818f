import { open, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { messageOf, QuintainError } from './errors.ts'
import { type JsonlFileOptions, type JsonlIssue, type JsonlRecord, readJsonlFile } from './jsonl.ts'
import { isAttempt, isOrder, isRequest, isVerdictLine, isVoidLine } from './line-shape.ts'
import {
  type AttemptRecord,
  type Extent,
  type Fault,
  type ManifestRecord,
  manifestRecord,
  type OrderRecord,
  type Outcome,
  type PrivateRecord,
  type RequestRecord,
  type TrajectoryRecord,
  type VerdictRecord,
  type VerdictSummary,
} from './records.ts'

/** Files of a run folder. Everything under `private/` stays there: no export, door or upload reads it. */
export const runFiles = {
  manifest: 'run.json',
  orders: 'orders.jsonl',
  attempts: 'attempts.jsonl',
  trajectories: 'trajectories.jsonl',
  verdicts: 'verdicts.jsonl',
  private: join('private', 'records.jsonl'),
  tokens: 'tokens.bin',
  blobs: 'blobs',
} as const

/** The newest version of each record schema that this package writes and reads. */
const newestVersion = 1

/** What a reader needs of an attempt to tell whether and how its order is finished. */
export interface Folded {
  verdict: VerdictSummary | null
  fault: Fault | null
  outcome: Outcome | null
}

/** `cancelled` and `pending` orders are not finished. The five statuses are disjoint: their counts add up to the orders. */
export type OrderStatus = 'scored' | 'unscored' | 'faulted' | 'cancelled' | 'pending'

export interface OrderState<T> {
  order: OrderRecord
  status: OrderStatus
  /** The one attempt that counts. */
  chosen?: T
  tries: number
}

/** Something that a reader met and did not stop at. */
export interface RunIssue {
  file: string
  what: 'torn_tail' | 'nul_padding' | 'bad_line' | 'duplicate' | 'missing_part' | 'missing_file' | 'orphan'
  detail: string
}

export interface RunFold<T> {
  dir: string
  manifest: ManifestRecord
  requests: RequestRecord[]
  /** By place in the plan. */
  states: OrderState<T>[]
  /**
   * Orders that were placed, as far as can be told, and cannot be read: what a reader counts as ordered and open. Zero
   * once `resume` has planned them again.
   */
  lost: number
  issues: RunIssue[]
}

/** The records of a file of a run; none when it was not written yet. Throws `journal_io` when it cannot be read. */
export async function* recordsOf(
  path: string,
  options: JsonlFileOptions = {},
): AsyncGenerator<JsonlRecord, void, undefined> {
  try {
    yield* readJsonlFile(path, options)
  } catch (error) {
    if (isAbsent(error)) return
    throw readError(error, path)
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Errors of the system as ours; anything else, such as one that a consumer threw, is left as it is. */
function readError(error: unknown, path: string): unknown {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException
  if (typeof syscall !== 'string') return error
  return new QuintainError('journal_io', `Reading ${path} failed: ${messageOf(error)}`, {
    cause: error,
    facts: { path, code },
  })
}

/** Refuses records of a version that a newer Quintain wrote, before anything else is made of them. */
export function checkVersion(record: unknown, file: string): void {
  const version = (record as { v?: unknown } | null)?.v
  if (typeof version === 'number' && version > newestVersion) {
    throw new QuintainError(
      'run_too_new',
      `${file} holds records of version ${version}; this Quintain reads up to ${newestVersion}. Install a newer quintain to open this run. Nothing was changed.`,
      { facts: { file, version } },
    )
  }
}

/**
 * `run.json`, or its copy at the head of `orders.jsonl` when that is missing or damaged. Throws `run_not_found`,
 * `run_corrupt`, `run_too_new`, and `journal_io` when the folder cannot be read.
 */
export async function readManifest(dir: string): Promise<ManifestRecord> {
  const path = join(dir, runFiles.manifest)
  let found = false
  try {
    const text = await readFile(path, 'utf8')
    found = true
    const manifest = manifestOf(JSON.parse(text), path)
    if (manifest !== undefined) return manifest
  } catch (error) {
    if (!(error instanceof SyntaxError) && !isAbsent(error)) throw readError(error, path)
  }
  const copies = join(dir, runFiles.orders)
  for await (const { value } of recordsOf(copies, { onIssue: () => (found = true) })) {
    found = true
    const manifest = manifestOf(value, copies)
    if (manifest !== undefined) return manifest
    break
  }
  if (!found) {
    throw new QuintainError(
      'run_not_found',
      `${dir} is not a run folder: it has no ${runFiles.manifest}. \`quintain list\` shows the runs under ./runs.`,
      { facts: { dir } },
    )
  }
  throw new QuintainError(
    'run_corrupt',
    `The manifest of ${dir} cannot be read, nor its copy at the head of ${runFiles.orders}.`,
    { facts: { dir } },
  )
}

function manifestOf(value: unknown, file: string): ManifestRecord | undefined {
  checkVersion(value, file)
  return manifestRecord.safeParse(value).data
}

/** How good an attempt is as the one that counts: a reward beats a verdict without one, that beats a fault, that beats a cancelled try. */
function rank(attempt: Folded): number {
  if (attempt.outcome === 'cancelled') return 0
  if (attempt.verdict !== null && attempt.fault === null) return attempt.verdict.reward !== null ? 4 : 3
  return attempt.fault !== null ? 1 : 2
}

/** The attempt of an order that counts: the best by `rank`, the latest among equals; undefined for none. */
export function chooseAttempt<T extends Folded>(attempts: readonly T[]): T | undefined {
  let best: T | undefined
  for (const attempt of attempts) if (best === undefined || rank(attempt) >= rank(best)) best = attempt
  return best
}

function statusOf(chosen: Folded | undefined, final: boolean): OrderStatus {
  if (chosen === undefined) return 'pending'
  if (chosen.outcome === 'cancelled') return 'cancelled'
  if (chosen.fault !== null) return final ? 'faulted' : 'pending'
  if (chosen.verdict === null || chosen.verdict.pending !== undefined) return 'pending'
  return chosen.verdict.reward === null ? 'unscored' : 'scored'
}

interface Try<T> {
  id: string
  final: boolean
  value: T
}

/** The files that hold the parts of attempts. */
export const partFiles = {
  trajectory: runFiles.trajectories,
  verdict: runFiles.verdicts,
  private: runFiles.private,
  tokens: runFiles.tokens,
} as const
export type PartName = keyof typeof partFiles
const partNames = Object.keys(partFiles) as PartName[]

/** True for an attempt line whose parts lie within files of these sizes. */
export function partsPresent(attempt: AttemptRecord, sizes: Record<PartName, number>): boolean {
  return partNames.every((name) => isWithin(attempt.parts[name], sizes[name]))
}

export function isWithin(part: Extent | undefined, size: number): boolean {
  return part === undefined || part[0] + part[1] <= size
}

/** Whether a folder is a run as it is shared: copied without its private records. */
export async function isSharedCopy(dir: string): Promise<boolean> {
  return stat(dirname(join(dir, partFiles.private))).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
}

/**
 * Byte sizes of the files that hold the parts of attempts; 0 for one that is absent. Nobody misses the private ones of
 * a shared copy: their size is infinite there.
 */
export async function partSizes(dir: string): Promise<Record<PartName, number>> {
  const sizes = { trajectory: 0, verdict: 0, private: 0, tokens: 0 }
  for (const name of partNames) {
    sizes[name] = await stat(join(dir, partFiles[name])).then(
      (found) => found.size,
      () => 0,
    )
  }
  if (await isSharedCopy(dir)) sizes.private = Number.POSITIVE_INFINITY
  return sizes
}

type Report = (what: RunIssue['what'], detail: string) => void

function lineIssues(report: Report): (issue: JsonlIssue) => void {
  return ({ kind, line, message }) => {
    const what = kind === 'torn' ? 'torn_tail' : kind === 'nul_padding' ? 'nul_padding' : 'bad_line'
    report(what, `line ${line + 1}: ${message}`)
  }
}

/**
 * The requests and orders of a plan as they stand in its file. Of two orders in one place the first counts: a plan
 * that lost its tail is planned again, and the same order comes back in the same place.
 */
export async function* planOf(
  dir: string,
  report: Report = () => {},
): AsyncGenerator<OrderRecord | RequestRecord, void, undefined> {
  const path = join(dir, runFiles.orders)
  for await (const { value, line } of recordsOf(path, { onIssue: lineIssues(report) })) {
    checkVersion(value, runFiles.orders)
    const schema = (value as { schema?: unknown } | null)?.schema
    if (schema === 'quintain.order') {
      // A place is never beyond its line: one that is was not written so, and a list that long must not be made.
      if (isOrder(value) && value.seq <= line) yield value
      else report('bad_line', `line ${line + 1}: the order is damaged`)
    } else if (schema === 'quintain.request') {
      if (isRequest(value)) yield value
      else report('bad_line', `line ${line + 1}: the request is damaged`)
    } else if (schema !== 'quintain.run') report('bad_line', `line ${line + 1}: no record of a plan`)
  }
}

/** Ids of the attempts that were declared void; found without parsing the other lines. */
async function voidedAttempts(path: string): Promise<Set<string>> {
  const head = '{"schema":"quintain.void"'
  const voided = new Set<string>()
  const parse = (text: string): unknown => (text.startsWith(head) ? JSON.parse(text) : undefined)
  for await (const { value } of recordsOf(path, { parse })) if (isVoidLine(value)) voided.add(value.attempt)
  return voided
}

/**
 * The state of a run: a fold over its plan and its attempt lines, in the order in which they were written.
 * `project` is called once for every attempt that is on disk as a whole, retried ones too, and says what to keep of
 * it; trajectories are not read.
 *
 * Throws `run_not_found`, `run_corrupt` (no readable manifest), `run_too_new`, and `journal_io` when a file cannot be
 * read; everything else that is wrong with a file is an issue in the result.
 */
export async function foldRun<T extends Folded = AttemptRecord>(
  dir: string,
  project: (attempt: AttemptRecord) => T = (attempt) => attempt as unknown as T,
): Promise<RunFold<T>> {
  const manifest = await readManifest(dir)
  const issues: RunIssue[] = []
  const reporter =
    (file: string): Report =>
    (what, detail) => {
      issues.push({ file, what, detail })
    }

  const requests: RequestRecord[] = []
  const orders: OrderRecord[] = []
  const reportPlan = reporter(runFiles.orders)
  /** Places in the plan that something was written for. */
  const places = new Set<number>()
  let behind = 0
  const reportLine: Report = (what, detail) => {
    reportPlan(what, detail)
    // What can no longer be read stood behind the last order that can, most likely.
    if (what === 'bad_line' || what === 'torn_tail') places.add(behind++)
  }
  for await (const record of planOf(dir, reportLine)) {
    if (record.schema === 'quintain.request') requests.push(record)
    else if (orders[record.seq] === undefined) orders[record.seq] = record
    else if (orders[record.seq]!.id !== record.id) {
      reportPlan('bad_line', `order ${record.id} stands in the place of ${orders[record.seq]!.id}`)
    }
    if (record.schema === 'quintain.order') behind = record.seq + 1
  }
  for (let seq = 0; seq < orders.length; seq++) {
    places.add(seq)
    if (orders[seq] === undefined) reportPlan('bad_line', `the order in place ${seq} cannot be read`)
  }
  if (!(await exists(join(dir, runFiles.orders)))) {
    reportPlan('missing_file', 'the plan is missing: what was ordered is not known')
  }

  const sizes = await partSizes(dir)
  const tries: (Try<T>[] | undefined)[] = []
  const reportAttempts = reporter(runFiles.attempts)
  const path = join(dir, runFiles.attempts)
  const voided = await voidedAttempts(path)
  for await (const { value, line } of recordsOf(path, { onIssue: lineIssues(reportAttempts) })) {
    checkVersion(value, runFiles.attempts)
    const schema = (value as { schema?: unknown } | null)?.schema
    const damaged = () => reportAttempts('bad_line', `line ${line + 1}: the record is damaged`)
    if (schema === 'quintain.attempt') {
      if (!isAttempt(value)) damaged()
      else if (voided.has(value.id)) continue
      else if (orders[value.seq]?.id !== value.order) {
        reportAttempts('orphan', `attempt of order ${value.order}, which is not in the plan`)
        places.add(value.seq)
      } else if (!partsPresent(value, sizes)) {
        reportAttempts('missing_part', `attempt ${value.id} is not on disk as a whole and does not count`)
      } else {
        tries[value.seq] ??= []
        const known = tries[value.seq]!
        if (known.some(({ id }) => id === value.id)) {
          reportAttempts('duplicate', `attempt ${value.id} stands there twice and counts once`)
        } else known.push({ id: value.id, final: value.final, value: project(value) })
      }
    } else if (schema === 'quintain.verdict-summary') {
      if (!isVerdictLine(value)) {
        damaged()
        continue
      }
      const target = tries[value.seq]?.find(({ id }) => id === value.attempt)
      if (target === undefined) continue
      if (!isWithin(value.part, sizes.verdict)) {
        reportAttempts(
          'missing_part',
          `a later verdict on attempt ${value.attempt} is not on disk as a whole`,
        )
        continue
      }
      target.value.verdict = value.verdict
      // Absent leaves the attempt's own; null says that the new verdict has none.
      if (value.fault !== undefined) target.value.fault = value.fault
      if (value.fault != null) target.final = true
    } else if (schema !== 'quintain.void' || !isVoidLine(value)) damaged()
  }

  const states: OrderState<T>[] = []
  for (const [seq, order] of orders.entries()) {
    if (order === undefined) continue
    const all = tries[seq] ?? []
    const chosen = chooseAttempt(all.map((one) => one.value))
    const final = all.at(-1)?.final ?? false
    states.push({
      order,
      status: statusOf(chosen, final),
      tries: all.length,
      ...(chosen === undefined ? {} : { chosen }),
    })
  }
  const ordered = Math.max(places.size, ...[manifest.request, ...requests].map(ordersOf))
  return { dir, manifest, requests, states, lost: ordered - states.length, issues }
}

/** How many orders a request made, where it says so itself; 0 where only the taskset knows. */
function ordersOf({ tasks, split, limit, repeats }: RequestRecord): number {
  return tasks === undefined || split !== undefined || limit !== undefined ? 0 : new Set(tasks).size * repeats
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !isAbsent(error),
  )
}

async function readPart(dir: string, name: PartName, part: Extent): Promise<Buffer> {
  const [offset, bytes, checksum] = part
  const path = join(dir, partFiles[name])
  const changed = new QuintainError(
    'run_corrupt',
    `${path}: the ${bytes} bytes at ${offset} are not what was written there.`,
    { facts: { file: partFiles[name], offset, bytes } },
  )
  try {
    const handle = await open(path, 'r')
    try {
      // Before memory is set aside for what may be no length at all.
      if (!isWithin(part, (await handle.stat()).size)) throw changed
      const buffer = Buffer.allocUnsafe(bytes)
      const { bytesRead } = await handle.read(buffer, 0, bytes, offset)
      if (bytesRead !== bytes || crc32(buffer) !== checksum) throw changed
      return buffer
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw isAbsent(error) ? changed : readError(error, path)
  }
}

/** A part that is one line of JSON. */
async function readRecord(dir: string, name: PartName, part: Extent): Promise<unknown> {
  const record: unknown = JSON.parse((await readPart(dir, name, part)).toString())
  checkVersion(record, partFiles[name])
  return record
}

/** True when every part of an attempt is on disk with its checksum. */
export async function partsIntact(dir: string, attempt: AttemptRecord): Promise<boolean> {
  for (const name of partNames) {
    const part = attempt.parts[name]
    if (part === undefined) continue
    try {
      await readPart(dir, name, part)
    } catch {
      return false
    }
  }
  return true
}

/** What names the place of an attempt's parts; a reader of many keeps no more of each. */
type AttemptParts = Pick<AttemptRecord, 'parts'>

/**
 * The trajectory of an attempt. Throws `run_corrupt` when the bytes on disk are not those that were written,
 * `run_too_new` and `journal_io`; so do its sisters below.
 */
export async function readTrajectory(dir: string, attempt: AttemptParts): Promise<TrajectoryRecord> {
  return (await readRecord(dir, 'trajectory', attempt.parts.trajectory)) as TrajectoryRecord
}

/** The verdict that was recorded with an attempt, with its components; undefined for one that was not graded. */
export async function readVerdict(dir: string, attempt: AttemptParts): Promise<VerdictRecord | undefined> {
  const { verdict } = attempt.parts
  return verdict && ((await readRecord(dir, 'verdict', verdict)) as VerdictRecord)
}

/** The private record of an attempt: secret, final state, evidence. Never publish what this returns. */
export async function readPrivate(dir: string, attempt: AttemptRecord): Promise<PrivateRecord | undefined> {
  const { private: hidden } = attempt.parts
  return hidden && ((await readRecord(dir, 'private', hidden)) as PrivateRecord)
}

/** The token arrays of an attempt, as one chunk that the calls of its trajectory point into. */
export async function readTokens(dir: string, attempt: AttemptParts): Promise<Buffer | undefined> {
  const { tokens } = attempt.parts
  return tokens && readPart(dir, 'tokens', tokens)
}

/** A run of a folder, or why it cannot be read. */
export interface ListedRun {
  dir: string
  manifest?: ManifestRecord
  problem?: string
}

/** The runs in a folder and in its folders, newest first. */
export async function listRuns(root: string): Promise<ListedRun[]> {
  const runs: ListedRun[] = []
  for (const dir of await foldersIn(root)) {
    const run = await listedRun(dir)
    if (run !== undefined) runs.push(run)
    else {
      const inside = await Promise.all((await foldersIn(dir)).map(listedRun))
      runs.push(...inside.filter((found) => found !== undefined))
    }
  }
  return runs.sort((a, b) => (b.manifest?.created ?? '').localeCompare(a.manifest?.created ?? ''))
}

async function foldersIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name))
}

/** Undefined for a folder that is no run. */
async function listedRun(dir: string): Promise<ListedRun | undefined> {
  try {
    return { dir, manifest: await readManifest(dir) }
  } catch (error) {
    if (QuintainError.isInstance(error) && error.code === 'run_not_found') return undefined
    return { dir, problem: messageOf(error) }
  }
}
