import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Box,
  BoxEntry,
  ExecOptions,
  ExecResult,
  FileResult,
  ReadOptions,
  Snapshot,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import { boxPath, bytesOfName, nameOfBytes } from '../box-name.ts'
import { type BoxPlan, checkVariables, type PlacedFile } from '../box-options.ts'
import { KeptOutput, outputFields } from '../command-output.ts'
import { notStarted, toCommand } from '../exec-result.ts'
import { noSuchPath, type Refused, refusalOf, refused } from '../file-refusal.ts'
import { isAlive, killQuietly, processesWith } from '../process-table.ts'
import { stoppedFault } from '../sandbox-fault.ts'
import { defaultReadBytes, snapshotLimits } from '../snapshot-limits.ts'

/** How long output may still come after a command is gone, from what it left in the background. */
const outputGraceMs = 100

/** A folder below the machine's temporary one, and processes that start in it. */
export class ProcessBox implements Box {
  readonly driver = 'process'
  readonly isolation = 'none'
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #root: string
  readonly #shell: string
  readonly #groups = new Set<number>()
  readonly #mark: string
  readonly #onStop: () => void
  #stopped: Promise<void> | undefined

  constructor(options: { id: string; plan: BoxPlan; root: string; shell: string; onStop: () => void }) {
    this.id = options.id
    this.#plan = options.plan
    this.#root = options.root
    this.#shell = options.shell
    this.#onStop = options.onStop
    this.workdir = join(options.root, options.plan.workdir)
    this.#mark = `QUINTAIN_BOX=${options.root}`
  }

  async furnish(files: readonly PlacedFile[]): Promise<void> {
    for (const file of files) {
      const made = await this.#place(file)
      if (!made.ok) throw new Error(made.message)
    }
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    checkVariables(options.env ?? {})
    this.#check()
    const began = performance.now()
    const argv = toCommand(command, this.#shell)
    const folder = options.cwd === undefined ? this.workdir : this.#inside(options.cwd)
    if (argv === undefined || folder === undefined) return notStarted('invalid', began)
    if (options.signal?.aborted) return notStarted('aborted', began)
    if (!(await isFolder(folder))) return notStarted('no_folder', began)
    const limits = this.#plan.limits
    const cap = Math.min(options.outputBytes ?? limits.outputBytes, limits.outputBytes)
    const out = new KeptOutput(cap)
    const err = new KeptOutput(cap)
    // A shell of ours in front sets what Node cannot: no core files, and so many seconds of the processor.
    const limited = `ulimit -c 0; ulimit -t ${Math.ceil(limits.cpuMs / 1000)}; exec "$@"`
    const [mark, value] = this.#mark.split('=') as [string, string]
    let child: ChildProcessWithoutNullStreams
    try {
      child = spawn('/bin/sh', ['-c', limited, 'box', ...argv], {
        cwd: folder,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          ...this.#plan.env,
          HOME: join(this.#root, this.#plan.env['HOME']!),
          PWD: folder,
          TMPDIR: join(this.#root, 'tmp'),
          ...options.env,
          [mark]: value,
        },
      })
    } catch (error) {
      return notStarted(startRefusal(error), began)
    }
    return new Promise<ExecResult>((resolve, reject) => {
      if (child.pid !== undefined) this.#groups.add(child.pid)
      let timedOut = false
      let aborted = false
      let done = false
      const kill = () => child.pid !== undefined && killQuietly(-child.pid)
      const deadline = setTimeout(
        () => {
          timedOut = true
          kill()
        },
        Math.min(options.wallMs ?? limits.wallMs, limits.wallMs),
      )
      const abort = () => {
        aborted = !timedOut
        kill()
      }
      options.signal?.addEventListener('abort', abort, { once: true })
      child.stdout.on('data', (chunk: Buffer) => void (done || out.add(chunk)))
      child.stderr.on('data', (chunk: Buffer) => void (done || err.add(chunk)))
      child.stdin.on('error', () => {})
      child.stdin.end(options.stdin ?? '')
      const settle = (fields: Partial<ExecResult>) => {
        if (done) return
        done = true
        clearTimeout(deadline)
        options.signal?.removeEventListener('abort', abort)
        // What it left in the background may go on writing; nobody reads it, and it does not keep us alive.
        for (const stream of [child.stdout, child.stderr])
          if ('unref' in stream) (stream as { unref(): void }).unref()
        if (this.#stopped !== undefined) {
          reject(stoppedFault())
          return
        }
        resolve({
          exitCode: null,
          signal: null,
          timedOut,
          aborted,
          outOfMemory: null,
          ...outputFields(out.end(), err.end(), options.binary === true),
          durationMs: performance.now() - began,
          ...fields,
        })
      }
      child.once('error', (error) => settle({ notStarted: startRefusal(error) }))
      let code: number | null = null
      let signal: string | null = null
      // On a busy machine the timer fires before what lies in the pipes was read: a turn of the loop reads it.
      const endWhenRead = (turns = 0) => {
        const before = out.written + err.written
        const settled = () =>
          out.written + err.written === before || turns > 100 ? end() : endWhenRead(turns + 1)
        setImmediate(() => setImmediate(settled))
      }
      const end = () => {
        // What a shell says of a program that it cannot start, where we asked for that program and no shell.
        if (typeof command !== 'string' && (code === 127 || code === 126) && out.written === 0)
          return settle({ notStarted: code === 127 ? 'not_found' : 'not_executable' })
        settle({ exitCode: code, signal })
      }
      child.once('exit', (exitCode, name) => {
        code = exitCode
        // A group that is gone may be another's by the time we stop.
        if (child.pid !== undefined && !isAlive(-child.pid)) this.#groups.delete(child.pid)
        signal = name
        setTimeout(endWhenRead, outputGraceMs)
      })
      child.once('close', end)
    })
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = this.#inside(path)
    if (whole === undefined) return noSuchPath()
    try {
      const real = await this.#real(whole)
      const root = await realpath(this.#root)
      if (real === undefined || top(real.slice(root.length)) !== top(whole.slice(this.#root.length)))
        return refused('outside', 'a link leads out of its folder')
      return await readRegular(real, maxBytes)
    } catch (error) {
      return refusalOf(error)
    }
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    const whole = boxPath(this.#virtual(path), this.#plan.workdir)
    if (whole === undefined) return noSuchPath()
    return this.#place({ path: whole, mode: mode & 0o777, data: Buffer.from(data as string) })
  }

  async list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
    const whole = this.#inside(path)
    if (whole === undefined) return noSuchPath()
    try {
      const real = await this.#real(whole)
      if (real === undefined) return refused('outside', 'a link leads out of the box')
      const entries: BoxEntry[] = []
      for (const name of await readdir(real, { encoding: 'buffer' })) {
        const { kind, size, mode } = await describe(Buffer.concat([Buffer.from(`${real}/`), name]))
        entries.push({ name: nameOfBytes(name), kind, size, mode })
      }
      return { ok: true, entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    } catch (error) {
      return refusalOf(error)
    }
  }

  async snapshot(
    paths: readonly string[] = [this.workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    this.#check()
    let { maxBytes, maxEntries } = snapshotLimits(options)
    const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
    const stack = paths
      .flatMap((path) => {
        const whole = boxPath(this.#virtual(path), this.#plan.workdir)
        if (whole === undefined) snapshot.skipped.push({ path, reason: 'missing' })
        return whole === undefined ? [] : [bytesOfName(whole)]
      })
      .reverse()
    while (stack.length > 0) {
      const bytes = stack.pop()!
      const path = nameOfBytes(bytes)
      const skip = (reason: Refused['reason']) => void snapshot.skipped.push({ path, reason })
      if (maxEntries-- <= 0) {
        skip('too_large')
        break
      }
      const real = Buffer.concat([Buffer.from(this.#root), bytes])
      try {
        // A folder on the way may have become a link since its parent was read.
        const parent = await this.#real(dirname(nameOfBytes(real)))
        if (parent === undefined) {
          skip('outside')
          continue
        }
        const { kind, mode } = await describe(real)
        if (kind === 'link')
          snapshot.entries.push({ kind, path, target: nameOfBytes(await readlink(real, 'buffer')) })
        else if (kind === 'folder') {
          snapshot.entries.push({ kind, path, mode })
          const names = await readdir(real, { encoding: 'buffer' })
          for (const name of names.sort(Buffer.compare).reverse())
            stack.push(Buffer.concat([bytes, Buffer.from('/'), name]))
        } else if (kind === 'file') {
          const result = await readRegular(real, maxBytes)
          if (!result.ok) skip(result.reason)
          else {
            maxBytes -= result.data.length
            snapshot.entries.push({ kind, path, mode, data: result.data })
          }
        } else skip('wrong_kind')
      } catch (error) {
        skip(refusalOf(error).reason)
      }
    }
    return snapshot
  }

  async restore(snapshot: Snapshot, { at = '/' }: { at?: string } = {}): Promise<FileResult<object>> {
    const base = boxPath(this.#virtual(at), this.#plan.workdir)
    if (base === undefined) return noSuchPath()
    for (const entry of snapshot.entries) {
      const path = boxPath(`${base}/${entry.path}`, '/')!
      const made =
        entry.kind === 'folder'
          ? await this.#makeFolder(path, entry.mode & 0o777)
          : await this.#place(
              entry.kind === 'link'
                ? { path, link: entry.target }
                : { path, mode: entry.mode & 0o777, data: entry.data },
            )
      if (!made.ok) return made
    }
    return { ok: true }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#end()
    return this.#stopped
  }

  async #end(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      for (const group of this.#groups) killQuietly(-group)
      // Those that have left their group, found by a variable that they inherited.
      const left = processesWith(this.#mark)
      for (const pid of left) killQuietly(pid)
      if (left.length === 0) break
      await sleep(10)
    }
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 }).catch(() => removeTree(this.#root))
    this.#onStop()
  }

  #check(): void {
    if (this.#stopped !== undefined) throw stoppedFault()
  }

  /** A path as the box's own, whichever of both it was given as. */
  #virtual(path: string): string {
    return path === this.#root || path.startsWith(`${this.#root}/`)
      ? path.slice(this.#root.length) || '/'
      : path
  }

  #inside(path: string): string | undefined {
    this.#check()
    const whole = boxPath(this.#virtual(path), this.#plan.workdir)
    return whole === undefined ? undefined : join(this.#root, whole)
  }

  /** Where a path leads, when that is in the box. Throws as the file system does. */
  async #real(path: string): Promise<string | undefined> {
    const root = await realpath(this.#root)
    const real = nameOfBytes(await realpath(bytesOfName(path), 'buffer'))
    return real === root || real.startsWith(`${root}/`) ? real : undefined
  }

  async #makeFolder(path: string, mode: number): Promise<FileResult<object>> {
    try {
      const folder = join(this.#root, path)
      await mkdir(bytesOfName(folder), { recursive: true })
      if ((await this.#real(folder)) === undefined) return refused('outside', 'a link leads out of the box')
      await chmod(bytesOfName(folder), mode)
      return { ok: true }
    } catch (error) {
      return refusalOf(error)
    }
  }

  async #place(file: PlacedFile): Promise<FileResult<object>> {
    this.#check()
    const path = join(this.#root, file.path)
    try {
      await mkdir(bytesOfName(dirname(path)), { recursive: true })
      const folder = await this.#real(dirname(path))
      if (folder === undefined) return refused('outside', 'a link leads out of the box')
      if ('link' in file) {
        await rm(bytesOfName(path), { force: true })
        await symlink(bytesOfName(file.link), bytesOfName(path))
        return { ok: true }
      }
      const temporary = `${path}.box-${Math.random().toString(36).slice(2)}~`
      const handle = await open(bytesOfName(temporary), 'wx', file.mode)
      try {
        await handle.writeFile(file.data)
        await handle.chmod(file.mode)
      } finally {
        await handle.close()
      }
      // Renamed into place: a link that stands there is replaced and not followed.
      await rename(bytesOfName(temporary), bytesOfName(path)).catch(async (error: unknown) => {
        await rm(bytesOfName(temporary), { force: true })
        throw error
      })
      return { ok: true }
    } catch (error) {
      return refusalOf(error)
    }
  }
}

/** Why the system would not start a process. */
function startRefusal(error: unknown): NonNullable<ExecResult['notStarted']> {
  const { code } = error as NodeJS.ErrnoException
  return code === 'E2BIG' ? 'too_long' : code === 'EAGAIN' || code === 'ENOMEM' ? 'no_process' : 'not_found'
}

async function readRegular(path: string | Buffer, maxBytes: number) {
  const handle = await open(
    typeof path === 'string' ? bytesOfName(path) : path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  )
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) return refused('wrong_kind', 'it is no regular file')
    if (stats.size > maxBytes) return refused('too_large', `it has ${stats.size} bytes`)
    const data = new Uint8Array(await handle.readFile())
    if (data.length > maxBytes) return refused('too_large', `it has ${data.length} bytes`)
    return { ok: true as const, data, mode: stats.mode & 0o7777 }
  } finally {
    await handle.close()
  }
}

async function describe(path: Buffer): Promise<Omit<BoxEntry, 'name'>> {
  const stats = await lstat(path)
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'folder'
      : stats.isSymbolicLink()
        ? 'link'
        : 'other'
  return { kind, size: stats.size, mode: stats.mode & 0o7777 }
}

/** The first folder of an absolute path. */
function top(path: string): string | undefined {
  return path.split('/')[1]
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

/** As a process: it has no limit on the length of paths, and opens folders that were closed to their owner. */
async function removeTree(root: string): Promise<void> {
  for (const argv of [
    ['chmod', '-R', 'u+rwx', root],
    ['rm', '-rf', root],
  ]) {
    await new Promise<void>((resolve) => {
      const child = spawn(argv[0]!, argv.slice(1), { stdio: 'ignore' })
      child.once('error', () => resolve())
      child.once('exit', () => resolve())
    })
  }
}
