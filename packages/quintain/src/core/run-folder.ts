import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { messageOf, QuintainError } from './errors.ts'
import { type JsonlFileOptions, type JsonlIssue, type JsonlRecord, readJsonlFile } from './jsonl.ts'
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
  type VerdictLine,
  type VerdictRecord,
  type VerdictSummary,
  type VoidLine,
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
  what: 'torn_tail' | 'nul_padding' | 'bad_line' | 'missing_part' | 'orphan'
  detail: string
}

export interface RunFold<T> {
  dir: string
  manifest: ManifestRecord
  requests: RequestRecord[]
  /** By place in the plan. */
  states: OrderState<T>[]
  issues: RunIssue[]
}

/** The records of a file of a run; none when it was not written yet. */
export async function* recordsOf(
  path: string,
  options: JsonlFileOptions = {},
): AsyncGenerator<JsonlRecord, void, undefined> {
  try {
    yield* readJsonlFile(path, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
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

/** `run.json`, or its copy at the head of `orders.jsonl`. Throws `run_not_found`, `run_corrupt` or `run_too_new`. */
export async function readManifest(dir: string): Promise<ManifestRecord> {
  const candidates: unknown[] = []
  let found = false
  try {
    const text = await readFile(join(dir, runFiles.manifest), 'utf8')
    found = true
    candidates.push(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (candidates.length === 0) {
    for await (const line of recordsOf(join(dir, runFiles.orders))) {
      found = true
      candidates.push(line.value)
      break
    }
  }
  if (!found) {
    throw new QuintainError(
      'run_not_found',
      `${dir} is not a run folder: it has no ${runFiles.manifest}. \`quintain list\` shows the runs under ./runs.`,
      { facts: { dir } },
    )
  }
  for (const candidate of candidates) {
    checkVersion(candidate, join(dir, runFiles.manifest))
    const parsed = manifestRecord.safeParse(candidate)
    if (parsed.success) return parsed.data
  }
  throw new QuintainError(
    'run_corrupt',
    `The manifest of ${dir} cannot be read, nor its copy at the head of ${runFiles.orders}.`,
    { facts: { dir } },
  )
}

/** How good an attempt is as the one that counts: a reward beats a verdict without one, that beats a fault, that beats a cancelled try. */
function rank(attempt: Folded): number {
  if (attempt.verdict !== null && attempt.fault === null) return attempt.verdict.reward !== null ? 4 : 3
  if (attempt.outcome === 'cancelled') return 0
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

/** True for an attempt line whose parts lie within files of these sizes. */
function partsPresent(attempt: AttemptRecord, sizes: Record<keyof AttemptRecord['parts'], number>): boolean {
  for (const [name, part] of Object.entries(attempt.parts) as [
    keyof AttemptRecord['parts'],
    Extent | undefined,
  ][]) {
    if (part !== undefined && part[0] + part[1] > sizes[name]) return false
  }
  return true
}

/** Byte sizes of the files that hold the parts of attempts; 0 for one that is absent. */
export async function partSizes(dir: string): Promise<Record<keyof AttemptRecord['parts'], number>> {
  const size = (file: string) =>
    stat(join(dir, file)).then(
      (found) => found.size,
      () => 0,
    )
  const [trajectory, verdict, hidden, tokens] = await Promise.all([
    size(runFiles.trajectories),
    size(runFiles.verdicts),
    size(runFiles.private),
    size(runFiles.tokens),
  ])
  return { trajectory, verdict, private: hidden, tokens }
}

/**
 * The state of a run: a fold over its plan and its attempt lines, in the order in which they were written.
 * `project` is called once for every attempt, retried ones too, and says what to keep of it; trajectories are not read.
 *
 * Throws `run_not_found`, `run_corrupt` (no readable manifest) and `run_too_new`; everything else that is wrong
 * with a file is an issue in the result.
 */
export async function foldRun<T extends Folded = AttemptRecord>(
  dir: string,
  project: (attempt: AttemptRecord) => T = (attempt) => attempt as unknown as T,
): Promise<RunFold<T>> {
  const manifest = await readManifest(dir)
  const issues: RunIssue[] = []
  const requests: RequestRecord[] = []
  const orders: OrderRecord[] = []
  const tries: Try<T>[][] = []
  const reporter = (file: string) => (what: RunIssue['what'], detail: string) => {
    issues.push({ file, what, detail })
  }
  const lineIssue = (report: ReturnType<typeof reporter>) => (issue: JsonlIssue) => {
    const what =
      issue.kind === 'torn' ? 'torn_tail' : issue.kind === 'nul_padding' ? 'nul_padding' : 'bad_line'
    report(what, `line ${issue.line + 1}: ${issue.message}`)
  }

  const orderIssue = reporter(runFiles.orders)
  const ordersPath = join(dir, runFiles.orders)
  for await (const { value } of recordsOf(ordersPath, { onIssue: lineIssue(orderIssue) })) {
    const record = value as OrderRecord | RequestRecord | ManifestRecord
    checkVersion(record, runFiles.orders)
    if (record?.schema === 'quintain.order') {
      // A plan that lost its tail is planned again: the same order comes back in the same place.
      orders[record.seq] = record
      tries[record.seq] ??= []
    } else if (record?.schema === 'quintain.request') requests.push(record)
  }
  for (let seq = 0; seq < orders.length; seq++) {
    if (orders[seq] === undefined) orderIssue('bad_line', `the order in place ${seq} cannot be read`)
  }

  const sizes = await partSizes(dir)
  const attemptIssue = reporter(runFiles.attempts)
  const attemptsPath = join(dir, runFiles.attempts)
  for await (const { value } of recordsOf(attemptsPath, { onIssue: lineIssue(attemptIssue) })) {
    const record = value as AttemptRecord | VerdictLine | VoidLine
    checkVersion(record, runFiles.attempts)
    if (typeof record?.seq !== 'number') continue
    const known = tries[record.seq]
    if (known === undefined || orders[record.seq]!.id !== record.order) {
      attemptIssue('orphan', `attempt of order ${record.order}, which is not in the plan`)
      continue
    }
    if (record.schema === 'quintain.attempt') {
      if (!partsPresent(record, sizes)) {
        attemptIssue('missing_part', `attempt ${record.id} is not on disk as a whole and does not count`)
        continue
      }
      known.push({ id: record.id, final: record.final, value: project(record) })
    } else if (record.schema === 'quintain.verdict-summary') {
      const target = known.find((one) => one.id === record.attempt)
      if (target !== undefined) {
        target.value.verdict = record.verdict
        if (record.fault != null) {
          target.value.fault = record.fault
          target.final = true
        }
      }
    } else if (record.schema === 'quintain.void') {
      const at = known.findIndex((one) => one.id === record.attempt)
      if (at >= 0) known.splice(at, 1)
    }
  }

  const states: OrderState<T>[] = []
  for (const [seq, order] of orders.entries()) {
    if (order === undefined) continue
    const all = tries[seq]!
    const chosen = chooseAttempt(all.map((one) => one.value))
    const final = all.at(-1)?.final ?? false
    states.push({
      order,
      status: statusOf(chosen, final),
      tries: all.length,
      ...(chosen === undefined ? {} : { chosen }),
    })
  }
  return { dir, manifest, requests, states, issues }
}

async function readPart(dir: string, file: string, part: Extent): Promise<Buffer> {
  const [offset, bytes, checksum] = part
  const handle = await open(join(dir, file), 'r')
  try {
    const buffer = Buffer.allocUnsafe(bytes)
    const { bytesRead } = await handle.read(buffer, 0, bytes, offset)
    if (bytesRead !== bytes || crc32(buffer) !== checksum) {
      throw new QuintainError(
        'run_corrupt',
        `${join(dir, file)}: the ${bytes} bytes at ${offset} are not what was written there.`,
        { facts: { file, offset, bytes } },
      )
    }
    return buffer
  } finally {
    await handle.close()
  }
}

/** True when every part of an attempt is on disk with its checksum. */
export async function partsIntact(dir: string, attempt: AttemptRecord): Promise<boolean> {
  const files = {
    trajectory: runFiles.trajectories,
    verdict: runFiles.verdicts,
    private: runFiles.private,
    tokens: runFiles.tokens,
  } as const
  for (const [name, part] of Object.entries(attempt.parts) as [keyof typeof files, Extent | undefined][]) {
    if (part === undefined) continue
    try {
      await readPart(dir, files[name], part)
    } catch {
      return false
    }
  }
  return true
}

/** The trajectory of an attempt. Throws `run_corrupt` when the bytes on disk are not those that were written. */
export async function readTrajectory(dir: string, attempt: AttemptRecord): Promise<TrajectoryRecord> {
  const bytes = await readPart(dir, runFiles.trajectories, attempt.parts.trajectory)
  return JSON.parse(bytes.toString()) as TrajectoryRecord
}

/** The verdict that was recorded with an attempt, with its components; undefined for one that was not graded. */
export async function readVerdict(dir: string, attempt: AttemptRecord): Promise<VerdictRecord | undefined> {
  if (attempt.parts.verdict === undefined) return undefined
  return JSON.parse(
    (await readPart(dir, runFiles.verdicts, attempt.parts.verdict)).toString(),
  ) as VerdictRecord
}

/** The private record of an attempt: secret, final state, evidence. Never publish what this returns. */
export async function readPrivate(dir: string, attempt: AttemptRecord): Promise<PrivateRecord | undefined> {
  if (attempt.parts.private === undefined) return undefined
  return JSON.parse(
    (await readPart(dir, runFiles.private, attempt.parts.private)).toString(),
  ) as PrivateRecord
}

/** The token arrays of an attempt, as one chunk that the calls of its trajectory point into. */
export async function readTokens(dir: string, attempt: AttemptRecord): Promise<Buffer | undefined> {
  return attempt.parts.tokens === undefined ? undefined : readPart(dir, runFiles.tokens, attempt.parts.tokens)
}

/** The runs under a folder, newest first. Folders that are not runs are left out; unreadable runs are told in `problem`. */
export async function listRuns(
  root: string,
): Promise<{ dir: string; manifest?: ManifestRecord; problem?: string }[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const runs: { dir: string; manifest?: ManifestRecord; problem?: string }[] = []
  for (const entry of entries) {
    if (!entry.isDirectory()) continue
    const dir = join(root, entry.name)
    try {
      runs.push({ dir, manifest: await readManifest(dir) })
    } catch (error) {
      if (!(QuintainError.isInstance(error) && error.code === 'run_not_found')) {
        runs.push({ dir, problem: messageOf(error) })
      }
    }
  }
  return runs.sort((a, b) => (b.manifest?.created ?? '').localeCompare(a.manifest?.created ?? ''))
}
