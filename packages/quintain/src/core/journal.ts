import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sha256 } from './canonical.ts'
import { messageOf, QuintainError } from './errors.ts'
import { ioError, systemErrorAsOurs } from './io-error.ts'
import { type JsonlIssue, jsonLine, lineWith, truncateTornTail } from './jsonl.ts'
import { isAttempt, isVerdictLine, isVoidLine } from './line-shape.ts'
import { lockFolder } from './lock.ts'
import { clearTimeout, now, setImmediate, setTimeout } from './own-time.ts'
import {
  type AttemptRecord,
  type Extent,
  type ManifestRecord,
  manifestRecord,
  type OrderRecord,
  type RequestRecord,
  type VerdictLine,
  type VoidLine,
} from './records.ts'
import {
  type Folded,
  foldRun,
  isSharedCopy,
  isWithin,
  type PartName,
  partFiles,
  partSizes,
  partsPresent,
  type RunFold,
  readManifest,
  recordsOf,
  runFiles,
} from './run-folder.ts'

/** One attempt as it is handed to the journal: its line without `parts`, and its parts as whole lines. */
export interface AttemptEntry {
  attempt: Omit<AttemptRecord, 'parts'>
  trajectory: Part
  verdict?: Part | undefined
  private?: Part | undefined
  tokens?: Part | undefined
}

/** Bytes of a record, line end included, with their CRC-32 (worked out by whoever made them). */
export interface Part {
  bytes: Uint8Array
  crc: number
}

/** A record as a part: one whole JSON line. `written` are further fields of it that are JSON text already. */
export function linePart(record: object, written: Readonly<Record<string, string>> = {}): Part {
  const bytes = Buffer.from(lineWith(record, written))
  return { bytes, crc: crc32(bytes) }
}

const bodies = Object.keys(partFiles) as PartName[]
type Files = Record<PartName | 'orders' | 'attempts', AppendFile>

type Entry =
  | { kind: 'attempt'; entry: AttemptEntry }
  | { kind: 'verdict'; line: Omit<VerdictLine, 'part'>; part: Part | undefined }

/** Above this many bytes waiting to be written, `ready()` makes the engine wait. */
const highWater = 32 * 1024 * 1024
/** What is written is put on the disk itself after this long, or this many bytes: more than that a power loss cannot take. */
const syncMs = 5_000
/** Milliseconds between one write of what is queued and the next. */
const gatherMs = 20
const syncBytes = 64 * 1024 * 1024
/** Bytes at the end of each file that are read back and checked when a run is opened: all that may lie before a sync. */
const recheckedBytes = 2 * syncBytes

/**
 * The writer of a run folder. Append-only: parts go to disk before the attempt line that points to them, so a kill at
 * any moment leaves only whole attempts, and at most a torn tail that the next opening cuts off and reports.
 */
export class Journal {
  readonly dir: string
  readonly manifest: ManifestRecord
  private readonly lock: { release(): Promise<void> }
  private readonly files: Files
  private queue: Entry[] = []
  private queuedBytes = 0
  private writing: Promise<void> | undefined
  private lastWriteAt = Number.NEGATIVE_INFINITY
  private endGathering: (() => void) | undefined
  private failure: QuintainError | undefined
  private waiters: (() => void)[] = []
  private written = 0
  private synced = 0
  private unsyncedBytes = 0
  private syncTimer: NodeJS.Timeout | undefined

  private constructor(
    dir: string,
    manifest: ManifestRecord,
    lock: { release(): Promise<void> },
    files: Files,
  ) {
    this.dir = dir
    this.manifest = manifest
    this.lock = lock
    this.files = files
  }

  /**
   * Makes a run folder. Throws `usage` or `definition_invalid` for a manifest that could not be read again, `run_exists` when there is one already, `run_locked` when another process makes it,
   * `disk_full` and `journal_io`.
   */
  static async create(dir: string, manifest: ManifestRecord): Promise<Journal> {
    refuseManifest(manifest)
    await mkdir(join(dir, dirname(runFiles.private)), { recursive: true, mode: 0o700 }).catch((error) => {
      throw ioError(error, dir)
    })
    const lock = await lockFolder(dir)
    let files: Files | undefined
    try {
      if (await holdsRun(dir)) {
        throw new QuintainError(
          'run_exists',
          `${dir} already holds a run. Resume it (\`quintain resume ${dir}\`) or choose another folder.`,
          { facts: { dir } },
        )
      }
      await truncateTornTail(join(dir, runFiles.orders))
      files = await openFiles(dir)
      await files.orders.append(Buffer.from(jsonLine(manifest)))
      await writeManifest(dir, manifest)
      return new Journal(dir, manifest, lock, files)
    } catch (error) {
      await closeFiles(files)
      await lock.release()
      throw systemErrorAsOurs(error, dir)
    }
  }

  /**
   * Opens a run for writing and gives its state: cuts torn tails, and declares void what lost its parts.
   * Throws `run_not_found`, `run_locked`, `run_too_new`, `run_corrupt`, `disk_full` and `journal_io`. What was
   * repaired is among `fold.issues`.
   */
  static async open<T extends Folded = AttemptRecord>(
    dir: string,
    project?: (attempt: AttemptRecord) => T,
  ): Promise<{ journal: Journal; fold: RunFold<T> }> {
    await readManifest(dir)
    if (await isSharedCopy(dir)) {
      throw new QuintainError(
        'run_corrupt',
        `${dir} is a run without its private records, as runs are shared: it can be read, not taken up. Resume the run that it was copied from.`,
        { facts: { dir } },
      )
    }
    const lock = await lockFolder(dir)
    let files: Files | undefined
    try {
      // Reads every line, so that a record of a newer version is refused before the first byte is changed.
      const before = await foldRun(dir, () => ({ verdict: null, fault: null, outcome: null }))
      const { manifest } = before
      if (!(await hasWholeManifest(dir))) await writeManifest(dir, manifest)
      for (const file of [
        runFiles.orders,
        runFiles.attempts,
        runFiles.trajectories,
        runFiles.verdicts,
        runFiles.private,
      ]) {
        await truncateTornTail(join(dir, file))
      }
      files = await openFiles(dir)
      if (files.orders.size === 0) await files.orders.append(Buffer.from(jsonLine(manifest)))
      await mend(dir, files.attempts)
      const fold = await foldRun<T>(dir, project)
      const mended = before.issues.filter(({ what }) => what === 'torn_tail' || what === 'nul_padding')
      const again = new Set(fold.issues.map((issue) => JSON.stringify(issue)))
      fold.issues.unshift(...mended.filter((issue) => !again.has(JSON.stringify(issue))))
      return { journal: new Journal(dir, manifest, lock, files), fold }
    } catch (error) {
      await closeFiles(files)
      await lock.release()
      throw systemErrorAsOurs(error, dir)
    }
  }

  /** Appends to the plan; resolves when the orders are on disk, so that nothing starts before it is ordered. */
  async appendOrders(records: readonly (OrderRecord | RequestRecord)[]): Promise<void> {
    this.check()
    let text = ''
    for (const record of records) text += jsonLine(record)
    if (text === '') return
    try {
      await this.files.orders.append(Buffer.from(text))
    } catch (error) {
      throw this.fail(error)
    }
  }

  /** Queues an attempt; it is on disk once `flush()` resolves. Throws at once when an earlier write failed. */
  appendAttempt(entry: AttemptEntry): void {
    this.check()
    let bytes = 0
    for (const body of bodies) bytes += entry[body]?.bytes.byteLength ?? 0
    this.push({ kind: 'attempt', entry }, bytes)
  }

  /** Queues a later verdict, such as a group's. */
  appendVerdict(line: Omit<VerdictLine, 'part'>, part: Part | undefined): void {
    this.check()
    this.push({ kind: 'verdict', line, part }, part?.bytes.byteLength ?? 0)
  }

  /** Stores bytes by content; gives their SHA-256. Writing the same bytes twice keeps one copy. */
  async putBlob(bytes: Uint8Array): Promise<string> {
    this.check()
    const name = sha256(bytes)
    const path = join(this.dir, runFiles.blobs, name)
    const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(temporary, bytes)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw this.fail(error)
    }
    return name
  }

  /** Resolves when little enough waits to be written that more may be made. */
  async ready(): Promise<void> {
    while (this.queuedBytes > highWater && this.failure === undefined) {
      await new Promise<void>((resolve) => this.waiters.push(resolve))
    }
    this.check()
  }

  /** Resolves when everything queued so far is on disk; throws `disk_full` or `journal_io` when it cannot be. */
  async flush(): Promise<void> {
    while (this.queue.length > 0 || this.writing !== undefined) {
      this.start()
      this.endGathering?.()
      await this.writing
      this.check()
    }
    this.check()
  }

  /** Writes what is left, syncs it and releases the lock. The lock is released even when writing fails. */
  async close(): Promise<void> {
    clearTimeout(this.syncTimer)
    try {
      await this.flush()
      await this.sync()
    } finally {
      await closeFiles(this.files)
      await this.lock.release()
    }
  }

  private push(entry: Entry, bytes: number): void {
    this.queue.push(entry)
    this.queuedBytes += bytes
    this.start()
  }

  private start(): void {
    if (this.writing !== undefined || this.queue.length === 0 || this.failure !== undefined) return
    this.writing = this.writeQueued().finally(() => {
      this.writing = undefined
      for (const wake of this.waiters.splice(0)) wake()
      this.start()
    })
  }

  /** Writes all that is queued. */
  private async writeQueued(): Promise<void> {
    await this.gathered()
    const batch = this.queue
    this.queue = []
    this.queuedBytes = 0
    try {
      await this.writeBatch(batch).catch(async (error: unknown) => {
        if (batch.length === 1) throw error
        // What has no room together may have some of it one by one, and every attempt cost something.
        for (const item of batch) await this.writeBatch([item])
      })
      if (this.unsyncedBytes > syncBytes) await this.sync()
    } catch (error) {
      this.fail(error)
    }
  }

  /**
   * One turn of the event loop gathers what arrives together into one write per file; where the last write is just over, some
   * milliseconds do, since attempts that end a thousand times a second would else cost four writes each. Who waits for it
   * cuts it short.
   */
  private async gathered(): Promise<void> {
    const early = this.lastWriteAt + gatherMs - now()
    await new Promise<void>((resolve) => {
      this.endGathering = resolve
      if (early > 0) setTimeout(resolve, early)
      else setImmediate(resolve)
    })
    this.lastWriteAt = now()
  }

  /** Writes every part first, then the lines that point to them; all of it or nothing. */
  private async writeBatch(batch: readonly Entry[]): Promise<void> {
    const chunks: Record<PartName, Uint8Array[]> = { trajectory: [], verdict: [], private: [], tokens: [] }
    const starts = { trajectory: 0, verdict: 0, private: 0, tokens: 0 }
    for (const body of bodies) starts[body] = this.files[body].size
    const ends = { ...starts }
    const place = (body: PartName, part: Part): Extent => {
      const extent: Extent = [ends[body], part.bytes.byteLength, part.crc]
      chunks[body].push(part.bytes)
      ends[body] += part.bytes.byteLength
      return extent
    }
    let text = ''
    for (const item of batch) {
      if (item.kind === 'verdict') {
        const part = item.part === undefined ? undefined : place('verdict', item.part)
        text += jsonLine(part === undefined ? item.line : { ...item.line, part })
        continue
      }
      const { attempt, trajectory, ...others } = item.entry
      const parts: AttemptRecord['parts'] = { trajectory: place('trajectory', trajectory) }
      for (const body of ['verdict', 'private', 'tokens'] as const) {
        const part = others[body]
        if (part !== undefined) parts[body] = place(body, part)
      }
      text += jsonLine({ ...attempt, parts })
    }
    const lines = Buffer.from(text)
    try {
      const writes = await Promise.allSettled(
        bodies
          .filter((body) => chunks[body].length > 0)
          .map((body) => this.files[body].append(...chunks[body])),
      )
      for (const write of writes) if (write.status === 'rejected') throw write.reason
      await this.files.attempts.append(lines)
    } catch (error) {
      for (const body of bodies) await this.files[body].cutBack(starts[body])
      throw error
    }
    this.written += batch.length
    this.unsyncedBytes += lines.byteLength
    for (const body of bodies) this.unsyncedBytes += ends[body] - starts[body]
    this.syncTimer ??= setTimeout(() => {
      this.syncTimer = undefined
      this.sync().catch((error) => this.fail(error))
    }, syncMs).unref()
  }

  /** Asks the system to put the files on the disk itself, parts before the lines that point to them. */
  private async sync(): Promise<void> {
    if (this.synced === this.written) return
    const upTo = this.written
    this.unsyncedBytes = 0
    await Promise.all(bodies.map((body) => this.files[body].sync()))
    await this.files.orders.sync()
    await this.files.attempts.sync()
    this.synced = Math.max(this.synced, upTo)
  }

  private fail(error: unknown): QuintainError {
    this.failure ??= ioError(error, this.dir)
    for (const wake of this.waiters.splice(0)) wake()
    return this.failure
  }

  private check(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

async function hasWholeManifest(dir: string): Promise<boolean> {
  try {
    return manifestRecord.safeParse(JSON.parse(await readFile(join(dir, runFiles.manifest), 'utf8'))).success
  } catch {
    return false
  }
}

/** True for a folder in which anything was ordered, or might have been: all but the first line of a plan, torn. */
async function holdsRun(dir: string): Promise<boolean> {
  const sizeOf = (file: string) =>
    stat(join(dir, file)).then(
      ({ size }) => size,
      () => 0,
    )
  if ((await sizeOf(runFiles.manifest)) > 0 || (await sizeOf(runFiles.attempts)) > 0) return true
  let lines = 0
  const onIssue = ({ kind }: JsonlIssue) => {
    if (kind === 'bad_line' || kind === 'too_long') lines++
  }
  for await (const _ of recordsOf(join(dir, runFiles.orders), { onIssue })) lines++
  return lines > 0
}

/** Under another name first, so that whoever reads `run.json` reads all of it. */
async function writeManifest(dir: string, manifest: ManifestRecord): Promise<void> {
  const draft = join(dir, `.${runFiles.manifest}.new`)
  const file = await open(draft, 'w')
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(draft, join(dir, runFiles.manifest))
}

async function openFiles(dir: string): Promise<Files> {
  const paths = { ...partFiles, orders: runFiles.orders, attempts: runFiles.attempts }
  const files: Partial<Files> = {}
  try {
    for (const [name, file] of Object.entries(paths)) {
      files[name as keyof Files] = await AppendFile.open(join(dir, file))
    }
  } catch (error) {
    await closeFiles(files)
    throw error
  }
  return files as Files
}

async function closeFiles(files: Partial<Files> | undefined): Promise<void> {
  for (const file of Object.values(files ?? {})) await file.close().catch(() => {})
}

/**
 * Declares void what is not on disk as it was written, before anything new takes its place: attempts that lost a part,
 * and later verdicts that did. An attempt whose later verdict is lost is set back to the verdict that it had before,
 * so that its group is graded again.
 */
async function mend(dir: string, attempts: AppendFile): Promise<void> {
  const path = join(dir, runFiles.attempts)
  const broken = await brokenLines(dir, path)
  if (broken.size === 0) return
  const voided = new Set<string>()
  const lost: AttemptRecord[] = []
  const standing = new Map<string, { line: Omit<VerdictLine, 'part'>; lost: boolean }>()
  for await (const { value, line } of recordsOf(path)) {
    if (isSchema(value, 'void') && isVoidLine(value)) voided.add(value.attempt)
    else if (isSchema(value, 'attempt') && isAttempt(value)) {
      const { id, order, seq, verdict, fault } = value
      if (broken.has(line)) lost.push(value)
      else if (!standing.has(id)) {
        standing.set(id, {
          line: { schema: 'quintain.verdict-summary', v: 1, attempt: id, order, seq, verdict, fault },
          lost: false,
        })
      }
    } else if (isSchema(value, 'verdict-summary') && isVerdictLine(value)) {
      const state = standing.get(value.attempt)
      if (state === undefined) continue
      state.lost = broken.has(line)
      if (state.lost) continue
      state.line.verdict = value.verdict
      if (value.fault !== undefined) state.line.fault = value.fault
    }
  }
  let text = ''
  for (const { id, order, seq } of lost) {
    if (voided.has(id)) continue
    voided.add(id)
    text += jsonLine({
      schema: 'quintain.void',
      v: 1,
      attempt: id,
      order,
      seq,
      reason: 'its parts are not on disk as they were written',
    } satisfies VoidLine)
  }
  for (const [id, state] of standing) if (state.lost && !voided.has(id)) text += jsonLine(state.line)
  if (text !== '') await attempts.append(Buffer.from(text))
}

function isSchema(value: unknown, name: string): boolean {
  return (value as { schema?: unknown } | null)?.schema === `quintain.${name}`
}

/** The lines of attempts and later verdicts that point to bytes which are not there, or not what was written. */
async function brokenLines(dir: string, path: string): Promise<Set<number>> {
  const sizes = await partSizes(dir)
  const broken = new Set<number>()
  const doubtful: Record<PartName, { line: number; part: Extent }[]> = {
    trajectory: [],
    verdict: [],
    private: [],
    tokens: [],
  }
  const doubt = (body: PartName, line: number, part: Extent | undefined) => {
    if (part !== undefined && part[0] + part[1] > sizes[body] - recheckedBytes) {
      doubtful[body].push({ line, part })
    }
  }
  for await (const { value, line } of recordsOf(path)) {
    if (isSchema(value, 'attempt') && isAttempt(value)) {
      if (!partsPresent(value, sizes)) broken.add(line)
      else for (const body of bodies) doubt(body, line, value.parts[body])
    } else if (isSchema(value, 'verdict-summary') && isVerdictLine(value)) {
      if (!isWithin(value.part, sizes.verdict)) broken.add(line)
      else doubt('verdict', line, value.part)
    }
  }
  for (const body of bodies) {
    if (doubtful[body].length === 0) continue
    const file = await open(join(dir, partFiles[body]), 'r')
    try {
      const window = new Window(file)
      for (const { line, part } of doubtful[body]) {
        const [offset, bytes, checksum] = part
        const found = await window.read(offset, bytes)
        if (found.byteLength !== bytes || crc32(found) !== checksum) broken.add(line)
      }
    } finally {
      await file.close()
    }
  }
  return broken
}

/** Reads small neighbouring pieces of a file with few large reads. */
class Window {
  private readonly file: FileHandle
  private held: Buffer = Buffer.alloc(0)
  private start = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  /** Shorter than asked for when the file is. The bytes are good until the next call. */
  async read(offset: number, bytes: number): Promise<Buffer> {
    const within = offset >= this.start && offset + bytes <= this.start + this.held.byteLength
    if (!within) {
      const wanted = Math.max(bytes, 4 * 1024 * 1024)
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(wanted), 0, wanted, offset)
      this.held = buffer.subarray(0, bytesRead)
      this.start = offset
    }
    return this.held.subarray(offset - this.start, offset - this.start + bytes)
  }
}

/** A file that only grows, by whole appends. A failed append is cut off again, so that the file stays a sequence of whole records. */
class AppendFile {
  size: number
  private readonly handle: FileHandle
  private last: Promise<void> = Promise.resolve()
  private constructor(handle: FileHandle, size: number) {
    this.handle = handle
    this.size = size
  }

  static async open(path: string): Promise<AppendFile> {
    try {
      await mkdir(dirname(path), { recursive: true })
      const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
      return new AppendFile(handle, (await handle.stat()).size)
    } catch (error) {
      throw ioError(error, path)
    }
  }

  /** Appends behind whatever is being appended. */
  append(...chunks: Uint8Array[]): Promise<void> {
    const appended = this.last.then(() => this.appendNow(chunks))
    this.last = appended.catch(() => {})
    return appended
  }

  private async appendNow(chunks: Uint8Array[]): Promise<void> {
    let position = this.size
    try {
      // writev may write less than it was given, as on a disk that is filling up.
      let rest = chunks
      while (rest.length > 0) {
        const { bytesWritten } = await this.handle.writev(rest.slice(0, 1_000), position)
        if (bytesWritten === 0) throw Object.assign(new Error('nothing could be written'), { code: 'ENOSPC' })
        position += bytesWritten
        rest = skip(rest, bytesWritten)
      }
      this.size = position
    } catch (error) {
      await this.cutBack(this.size)
      throw error
    }
  }

  /** Takes back what was appended beyond `size`. What cannot be taken back is a torn tail, or bytes that nothing points to. */
  async cutBack(size: number): Promise<void> {
    this.size = Math.min(this.size, size)
    await this.handle.truncate(this.size).catch(() => {})
  }

  sync(): Promise<void> {
    return this.handle.datasync()
  }

  close(): Promise<void> {
    return this.handle.close()
  }
}

/** The chunks without their first `bytes` bytes. */
function skip(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes
  let at = 0
  while (at < chunks.length && left >= chunks[at]!.byteLength) left -= chunks[at++]!.byteLength
  if (left === 0) return at === 0 ? chunks : chunks.slice(at)
  return [chunks[at]!.subarray(left), ...chunks.slice(at + 1)]
}

/** Removes a run folder that was only lent, such as the temporary one of an inline evaluation. */
export async function removeRun(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true })
}

/** A manifest that cannot be read again would cost the whole run, so it is refused before anything is written. */
function refuseManifest(manifest: ManifestRecord): void {
  let read: unknown
  try {
    read = JSON.parse(JSON.stringify(manifest))
  } catch (cause) {
    throw new QuintainError('usage', `What the run is made of is not plain data: ${messageOf(cause)}`, {
      cause,
    })
  }
  // Both as it is and as JSON gives it back: a number that JSON cannot hold comes back as null.
  for (const candidate of [manifest, read]) {
    const issue = manifestRecord.safeParse(candidate).error?.issues[0]
    if (issue === undefined) continue
    const field = issue.path.join('.')
    throw new QuintainError(
      field.startsWith('environment.') && !field.startsWith('environment.options')
        ? 'definition_invalid'
        : 'usage',
      `The run cannot be recorded: its ${field} is not valid (${issue.message}). Nothing was started.`,
      { facts: { field } },
    )
  }
}
