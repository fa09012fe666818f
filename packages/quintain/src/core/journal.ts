import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sha256 } from './canonical.ts'
import { messageOf, QuintainError } from './errors.ts'
import { jsonLine, truncateTornTail } from './jsonl.ts'
import { lockFolder } from './lock.ts'
import type {
  AttemptRecord,
  Extent,
  ManifestRecord,
  OrderRecord,
  RequestRecord,
  VerdictLine,
} from './records.ts'
import {
  checkVersion,
  type Folded,
  foldRun,
  partSizes,
  partsIntact,
  type RunFold,
  type RunIssue,
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

/** A record as a part: one whole JSON line. */
export function linePart(record: unknown): Part {
  const bytes = Buffer.from(jsonLine(record))
  return { bytes, crc: crc32(bytes) }
}

type Body = 'trajectory' | 'verdict' | 'private' | 'tokens'
const bodyFiles: Record<Body, string> = {
  trajectory: runFiles.trajectories,
  verdict: runFiles.verdicts,
  private: runFiles.private,
  tokens: runFiles.tokens,
}
const bodies = Object.keys(bodyFiles) as Body[]

type Entry =
  | { kind: 'attempt'; entry: AttemptEntry }
  | { kind: 'verdict'; line: Omit<VerdictLine, 'part'>; part: Part | undefined }

/** Attempts whose parts are read back and checked when a run is opened; older ones were checked by earlier openings or lie behind a sync. */
const recheckedAttempts = 256
/** Above this many bytes waiting to be written, `ready()` makes the engine wait. */
const highWater = 32 * 1024 * 1024

/**
 * The writer of a run folder. Append-only: parts go to disk before the attempt line that points to them, so a kill at
 * any moment leaves only whole attempts, and at most a torn tail that the next opening cuts off and reports.
 */
export class Journal {
  readonly dir: string
  readonly manifest: ManifestRecord
  private readonly lock: { release(): Promise<void> }
  private readonly files: Record<Body | 'orders' | 'attempts', AppendFile>
  private queue: Entry[] = []
  private queuedBytes = 0
  private writing: Promise<void> | undefined
  private failure: QuintainError | undefined
  private waiters: (() => void)[] = []
  private written = 0
  private synced = 0
  private syncTimer: NodeJS.Timeout | undefined

  private constructor(
    dir: string,
    manifest: ManifestRecord,
    lock: { release(): Promise<void> },
    files: Record<Body | 'orders' | 'attempts', AppendFile>,
  ) {
    this.dir = dir
    this.manifest = manifest
    this.lock = lock
    this.files = files
  }

  /** Makes a run folder. Throws `run_exists` when there is one already, `run_locked` when another process makes it. */
  static async create(dir: string, manifest: ManifestRecord): Promise<Journal> {
    await mkdir(join(dir, dirname(runFiles.private)), { recursive: true, mode: 0o700 }).catch((error) => {
      throw ioError(error, dir)
    })
    const lock = await lockFolder(dir)
    try {
      const exists = await stat(join(dir, runFiles.manifest)).then(
        () => true,
        () => false,
      )
      const ordered = await stat(join(dir, runFiles.orders)).then(
        (found) => found.size > 0,
        () => false,
      )
      if (exists || ordered) {
        throw new QuintainError(
          'run_exists',
          `${dir} already holds a run. Resume it (\`quintain resume ${dir}\`) or choose another folder.`,
          { facts: { dir } },
        )
      }
      const files = await openFiles(dir)
      const journal = new Journal(dir, manifest, lock, files)
      try {
        await files.orders.append(Buffer.from(jsonLine(manifest)))
        const temporary = join(dir, `.${runFiles.manifest}.new`)
        await writeFile(temporary, `${JSON.stringify(manifest, null, 2)}\n`)
        await rename(temporary, join(dir, runFiles.manifest))
      } catch (error) {
        throw ioError(error, dir)
      }
      return journal
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  /**
   * Opens a run for writing and gives its state: cuts torn tails, and declares void what lost its parts.
   * Throws `run_not_found`, `run_locked`, `run_too_new`, `run_corrupt`. What was repaired is among `fold.issues`.
   */
  static async open<T extends Folded>(
    dir: string,
    project?: (attempt: AttemptRecord) => T,
  ): Promise<{ journal: Journal; fold: RunFold<T> }> {
    await readManifest(dir)
    const lock = await lockFolder(dir)
    try {
      // The version of every record is checked before the first byte is changed.
      for (const file of [runFiles.orders, runFiles.attempts]) {
        for await (const { value } of recordsOf(join(dir, file))) checkVersion(value, file)
      }
      const before = await foldRun(dir, () => ({ verdict: null, fault: null, outcome: null }))
      const manifest = before.manifest
      const manifestPath = join(dir, runFiles.manifest)
      const whole = await stat(manifestPath).then(
        (found) => found.size > 0,
        () => false,
      )
      if (!whole) await writeFile(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`)
      for (const file of [
        runFiles.orders,
        runFiles.attempts,
        runFiles.trajectories,
        runFiles.verdicts,
        runFiles.private,
      ]) {
        await truncateTornTail(join(dir, file))
      }
      const files = await openFiles(dir)
      if (files.orders.size === 0) await files.orders.append(Buffer.from(jsonLine(manifest)))
      await voidBroken(dir, files.attempts)
      const fold = await foldRun<T>(dir, project)
      fold.issues = [...before.issues.filter((issue) => !fromAttempts(issue)), ...fold.issues]
      return { journal: new Journal(dir, manifest, lock, files), fold }
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  /** Appends to the plan; resolves when the orders are on disk, so that nothing starts before it is ordered. */
  async appendOrders(records: readonly (OrderRecord | RequestRecord)[]): Promise<void> {
    this.check()
    let text = ''
    for (const record of records) text += jsonLine(record)
    try {
      await this.files.orders.append(Buffer.from(text))
    } catch (error) {
      throw this.fail(error)
    }
  }

  /** Queues an attempt; it is on disk once `flush()` resolves. Throws at once when an earlier write failed. */
  appendAttempt(entry: AttemptEntry): void {
    this.check()
    this.push(
      { kind: 'attempt', entry },
      entry.trajectory.bytes.byteLength + (entry.private?.bytes.byteLength ?? 0),
    )
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
    try {
      await mkdir(dirname(path), { recursive: true })
      const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
      await writeFile(temporary, bytes)
      await rename(temporary, path)
    } catch (error) {
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
      for (const file of Object.values(this.files)) await file.close()
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

  /** Writes all that is queued: every part first, then the lines that point to them. */
  private async writeQueued(): Promise<void> {
    // One turn of the event loop gathers what arrives together into one write per file.
    await new Promise((resolve) => setImmediate(resolve))
    const batch = this.queue
    this.queue = []
    this.queuedBytes = 0
    const chunks: Record<Body, Uint8Array[]> = { trajectory: [], verdict: [], private: [], tokens: [] }
    const ends = Object.fromEntries(bodies.map((body) => [body, this.files[body].size])) as Record<
      Body,
      number
    >
    const place = (body: Body, part: Part): Extent => {
      const extent: Extent = [ends[body], part.bytes.byteLength, part.crc]
      chunks[body].push(part.bytes)
      ends[body] += part.bytes.byteLength
      return extent
    }
    let lines = ''
    for (const item of batch) {
      if (item.kind === 'verdict') {
        const part = item.part === undefined ? undefined : place('verdict', item.part)
        lines += jsonLine(part === undefined ? item.line : { ...item.line, part })
        continue
      }
      const { attempt, trajectory, verdict, private: hidden, tokens } = item.entry
      const parts: AttemptRecord['parts'] = { trajectory: place('trajectory', trajectory) }
      if (verdict !== undefined) parts.verdict = place('verdict', verdict)
      if (hidden !== undefined) parts.private = place('private', hidden)
      if (tokens !== undefined) parts.tokens = place('tokens', tokens)
      lines += jsonLine({ ...attempt, parts })
    }
    try {
      await Promise.all(
        bodies
          .filter((body) => chunks[body].length > 0)
          .map((body) => this.files[body].append(...chunks[body])),
      )
      await this.files.attempts.append(Buffer.from(lines))
      this.written += batch.length
      this.syncTimer ??= setTimeout(() => {
        this.syncTimer = undefined
        this.sync().catch((error) => this.fail(error))
      }, 5_000).unref()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Asks the system to put the files on the disk itself, parts before the lines that point to them. */
  private async sync(): Promise<void> {
    if (this.synced === this.written) return
    const upTo = this.written
    await Promise.all(bodies.map((body) => this.files[body].sync()))
    await this.files.orders.sync()
    await this.files.attempts.sync()
    this.synced = upTo
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

/** Found again, and with the right answer, once torn tails are mended. */
function fromAttempts(issue: RunIssue): boolean {
  return issue.what === 'missing_part' || issue.what === 'orphan'
}

function ioError(error: unknown, dir: string): QuintainError {
  if (QuintainError.isInstance(error)) return error
  const code = (error as NodeJS.ErrnoException)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new QuintainError(
      'disk_full',
      `The disk that holds ${dir} is full. Everything recorded before is intact: make room, then \`quintain resume ${dir}\`.`,
      { cause: error, facts: { dir } },
    )
  }
  return new QuintainError('journal_io', `Writing to ${dir} failed: ${messageOf(error)}`, {
    cause: error,
    facts: { dir, code },
  })
}

async function openFiles(dir: string): Promise<Record<Body | 'orders' | 'attempts', AppendFile>> {
  const paths: Record<Body | 'orders' | 'attempts', string> = {
    ...bodyFiles,
    orders: runFiles.orders,
    attempts: runFiles.attempts,
  }
  const opened = await Promise.all(
    Object.entries(paths).map(
      async ([name, file]) => [name, await AppendFile.open(join(dir, file))] as const,
    ),
  )
  return Object.fromEntries(opened) as Record<Body | 'orders' | 'attempts', AppendFile>
}

/** Declares void the attempts whose parts are not on disk as they were written, before anything new takes their place. */
async function voidBroken(dir: string, attempts: AppendFile): Promise<void> {
  const sizes = await partSizes(dir)
  const recent: AttemptRecord[] = []
  const voided = new Set<string>()
  const broken: AttemptRecord[] = []
  for await (const { value } of recordsOf(join(dir, runFiles.attempts))) {
    const record = value as AttemptRecord
    if ((value as { schema?: string })?.schema === 'quintain.void')
      voided.add((value as { attempt: string }).attempt)
    if (record?.schema !== 'quintain.attempt') continue
    const beyond = Object.entries(record.parts).some(
      ([name, part]) => part !== undefined && part[0] + part[1] > sizes[name as Body],
    )
    if (beyond) broken.push(record)
    else {
      recent.push(record)
      if (recent.length > recheckedAttempts) recent.shift()
    }
  }
  for (const record of recent) if (!(await partsIntact(dir, record))) broken.push(record)
  let text = ''
  for (const record of broken) {
    if (voided.has(record.id)) continue
    text += jsonLine({
      schema: 'quintain.void',
      v: 1,
      attempt: record.id,
      order: record.order,
      seq: record.seq,
      reason: 'its parts are not on disk as they were written',
    })
  }
  if (text !== '') await attempts.append(Buffer.from(text))
}

/** A file that only grows, by whole appends. A failed append is cut off again, so that the file stays a sequence of whole records. */
class AppendFile {
  size: number
  private readonly handle: FileHandle
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

  async append(...chunks: Uint8Array[]): Promise<void> {
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
      await this.handle.truncate(this.size).catch(() => {})
      throw error
    }
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
