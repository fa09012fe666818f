import { posix } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  Box,
  BoxEntry,
  ExecOptions,
  ExecResult,
  FileResult,
  ReadOptions,
  Snapshot,
  SnapshotEntry,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import { boxPath, bytesOfName } from '../box-name.ts'
import { type BoxPlan, checkVariables, type PlacedFile } from '../box-options.ts'
import { KeptOutput, outputFields } from '../command-output.ts'
import { notStarted, toCommand } from '../exec-result.ts'
import { noSuchPath, type Refused, refused } from '../file-refusal.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import { defaultReadBytes, snapshotLimits } from '../snapshot-limits.ts'
import { type Talk, Talks } from '../talks.ts'
import {
  AnswerTooLong,
  type Engine,
  type EngineAnswer,
  engineMessage,
  NoProcess,
  splitStreams,
} from './engine.ts'
import { type Owner, readTar, type TarEntry, writeTar } from './tar.ts'

/** Commands run as this user of the container, who owns the working directory; what is read-only is root's. */
export const boxUser: Owner = { uid: 1000, gid: 1000 }
const root: Owner = { uid: 0, gid: 0 }
/** Linux: one argument, and all of them with the variables, as most systems have it. */
const longestArgument = 131_071
const longestArguments = 2_000_000
const killGraceMs = 10_000
/** More than files: headers, and what is rounded up. */
const archiveSlack = 16 * 2 ** 20

/**
 * The shell in front of every command: goes to the folder, says its number as the first line of its errors so that we
 * can kill it, and becomes the command. The image needs `/bin/sh`.
 */
const front =
  'cd -- "$0" 2>/dev/null || { echo no_folder >&2; exit 125; }; ulimit -c 0; echo $$ >&2; exec "$@"'

/** A command that is text, by the better shell that the image has. */
const anyShell = 'command -v bash >/dev/null 2>&1 && exec bash -c "$0"; exec /bin/sh -c "$0"'

/** A box in a container. Files go in and out as archives that the engine packs and unpacks. */
export class ContainerBox implements Box {
  readonly isolation = 'container'
  readonly driver: string
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #engine: Engine
  readonly #container: string
  readonly #running = new Set<() => void>()
  readonly #talks = new Talks()
  readonly #onStop: () => void
  #stopped: Promise<void> | undefined
  /** We have ended it, since a command in it could not be ended: nothing is left, by the doing of whoever worked in it. */
  #ruined = false

  constructor(options: {
    driver: string
    id: string
    plan: BoxPlan
    engine: Engine
    container: string
    onStop: () => void
  }) {
    this.driver = options.driver
    this.id = options.id
    this.workdir = options.plan.workdir
    this.#plan = options.plan
    this.#engine = options.engine
    this.#container = options.container
    this.#onStop = options.onStop
  }

  /** The first files and the working directory. Throws a sandbox fault when the engine does not take them. */
  async furnish(): Promise<void> {
    const { files, readOnlyFiles, workdir } = this.#plan
    const home: SnapshotEntry[] = ['/home/box', workdir].map((path) => ({
      kind: 'folder',
      path,
      mode: 0o755,
    }))
    const made = [
      await this.#put([...home, ...files.map(entryOf)], boxUser),
      readOnlyFiles.length === 0 ? { ok: true as const } : await this.#put(readOnlyFiles.map(entryOf), root),
    ]
    for (const result of made) {
      if (!result.ok)
        throw sandboxFault('sandbox_start_failed', `the box could not be filled: ${result.message}`)
    }
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    checkVariables(options.env ?? {})
    this.#check()
    const talk = options.talk === undefined ? undefined : this.#talks.begin(options.talk)
    try {
      return await this.#run(command, options, talk)
    } finally {
      talk?.end()
    }
  }

  talk(name: string, input?: string | Uint8Array) {
    return this.#talks.say(name, input)
  }

  async #run(
    command: string | readonly string[],
    options: ExecOptions,
    talk: Talk | undefined,
  ): Promise<ExecResult> {
    const began = performance.now()
    const given = toCommand(command, '/bin/sh')
    const argv =
      given !== undefined && typeof command === 'string' ? ['/bin/sh', '-c', anyShell, command] : given
    const cwd = boxPath(options.cwd ?? this.workdir, this.workdir)
    if (argv === undefined || cwd === undefined) return notStarted('invalid', began)
    if (options.signal?.aborted) return notStarted('aborted', began)
    if (this.#ruined) return notStarted('no_process', began)
    const lengths = argv.map((argument) => Buffer.byteLength(argument) + 1)
    if (
      lengths.some((length) => length > longestArgument) ||
      lengths.reduce((a, b) => a + b) > longestArguments
    )
      return notStarted('too_long', began)
    const limits = this.#plan.limits
    const cap = Math.min(options.outputBytes ?? limits.outputBytes, limits.outputBytes)
    const exec = await this.#make(['/bin/sh', '-c', front, cwd, ...argv], {
      env: { ...this.#plan.env, PWD: cwd, ...options.env },
      stdin: options.stdin !== undefined || talk !== undefined,
    })
    const attached = await this.#engine.attach(exec).catch((error: unknown) => {
      if (error instanceof NoProcess) return undefined
      throw error
    })
    if (attached === undefined) return notStarted('no_process', began)
    const stream = attached
    const out = new KeptOutput(cap)
    const err = new KeptOutput(cap)
    let first = ''
    let told = false
    let heard = 0
    splitStreams(stream, (which, chunk) => {
      if (which === 'stdout') {
        heard += chunk.length
        return talk === undefined ? out.add(chunk) : talk.hear(chunk)
      }
      if (told) return err.add(chunk)
      first += chunk.toString('latin1')
      const end = first.indexOf('\n')
      if (end === -1) return
      told = true
      const rest = Buffer.from(first.slice(end + 1), 'latin1')
      first = first.slice(0, end)
      if (rest.length > 0) err.add(rest)
    })
    stream.on('error', () => {})
    if (talk !== undefined) {
      stream.write(options.stdin ?? '')
      talk.attach((input) => void stream.write(input))
    } else if (options.stdin !== undefined) stream.end(options.stdin)
    let timedOut = false
    let aborted = false
    const kill = () => void this.#kill(first).catch(() => {})
    const abort = () => {
      aborted = !timedOut
      kill()
    }
    const deadline = setTimeout(
      () => {
        timedOut = !aborted
        kill()
      },
      Math.min(options.wallMs ?? limits.wallMs, limits.wallMs),
    )
    options.signal?.addEventListener('abort', abort, { once: true })
    this.#running.add(abort)
    let state: { running: boolean; exitCode: number | null }
    try {
      state = await this.#end(exec, stream, () => timedOut || aborted)
    } finally {
      clearTimeout(deadline)
      options.signal?.removeEventListener('abort', abort)
      this.#running.delete(abort)
      // What it left in the background keeps its pipe; nobody reads it any more.
      stream.removeAllListeners('data')
      stream.resume()
      if ('unref' in stream) (stream as { unref(): void }).unref()
    }
    this.#check()
    if (first === 'no_folder') return notStarted('no_folder', began)
    const { exitCode } = state
    if (typeof command !== 'string' && (exitCode === 127 || exitCode === 126) && heard === 0)
      return notStarted(exitCode === 127 ? 'not_found' : 'not_executable', began)
    const killed = timedOut || aborted
    return {
      exitCode: killed ? null : exitCode,
      signal: killed ? 'SIGKILL' : null,
      timedOut,
      aborted,
      outOfMemory: null,
      ...outputFields(out.end(), err.end(), options.binary === true),
      durationMs: performance.now() - began,
    }
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    let at = whole
    for (let links = 0; links <= 40; links++) {
      const got = await this.#get(at, maxBytes + archiveSlack)
      if (!got.ok) return got
      const [entry] = got.entries
      if (entry?.kind === 'file') {
        if (entry.data.length > maxBytes) return refused('too_large', `it has ${entry.data.length} bytes`)
        return { ok: true as const, data: entry.data, mode: entry.mode }
      }
      if (entry?.kind !== 'link') return refused('wrong_kind', 'it is no regular file')
      at = posix.resolve(posix.dirname(at), entry.target)
      if (at.split('/')[1] !== whole.split('/')[1])
        return refused('outside', 'a link leads out of its folder')
    }
    return refused('wrong_kind', 'too many links')
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
    return this.#put([{ kind: 'file', path: whole, mode: mode & 0o777, data: bytes }], boxUser)
  }

  async list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    const got = await this.#get(whole, snapshotLimits({}).maxBytes)
    if (!got.ok) return got
    const [first, ...rest] = got.entries
    if (first?.kind !== 'folder') return refused('wrong_kind', 'it is no folder')
    const entries = rest
      .filter((entry) => posix.dirname(entry.path) === first.path)
      .map((entry): BoxEntry => {
        const name = posix.basename(entry.path)
        if (entry.kind === 'link') return { name, kind: 'link', size: entry.target.length, mode: 0o777 }
        if (entry.kind === 'file') return { name, kind: 'file', size: entry.data.length, mode: entry.mode }
        return { name, kind: entry.kind === 'folder' ? 'folder' : 'other', size: 0, mode: entry.mode }
      })
    return { ok: true, entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  async snapshot(
    paths: readonly string[] = [this.workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    let { maxBytes, maxEntries } = snapshotLimits(options)
    const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
    for (const path of paths) {
      const whole = this.#path(path)
      const got = whole === undefined ? noSuchPath() : await this.#get(whole, maxBytes + archiveSlack)
      if (whole === undefined || !got.ok) {
        snapshot.skipped.push({ path: whole ?? path, reason: got.ok ? 'missing' : got.reason })
        continue
      }
      const parent = posix.dirname(whole)
      const files = new Map(
        got.entries.flatMap((entry) => (entry.kind === 'file' ? [[entry.path, entry]] : [])),
      )
      for (const found of inOrder(got.entries)) {
        // A second name of a file is a file too.
        const first = found.kind === 'hardlink' ? files.get(found.target) : undefined
        const entry = first === undefined ? found : { ...first, path: found.path }
        const at = posix.join(parent, entry.path)
        if (maxEntries-- <= 0) {
          snapshot.skipped.push({ path: at, reason: 'too_large' })
          break
        }
        if (entry.kind === 'file' && entry.data.length > maxBytes)
          snapshot.skipped.push({ path: at, reason: 'too_large' })
        else if (entry.kind === 'other' || entry.kind === 'hardlink')
          snapshot.skipped.push({ path: at, reason: 'wrong_kind' })
        else {
          if (entry.kind === 'file') maxBytes -= entry.data.length
          snapshot.entries.push({ ...entry, path: at })
        }
      }
    }
    return snapshot
  }

  async restore(snapshot: Snapshot, { at = '/' }: { at?: string } = {}): Promise<FileResult<object>> {
    const base = this.#path(at)
    if (base === undefined) return noSuchPath()
    return this.#put(
      snapshot.entries.map((entry) => ({ ...entry, path: boxPath(`${base}/${entry.path}`, '/')! })),
      boxUser,
    )
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      this.#onStop()
      for (const abort of this.#running) abort()
      this.#talks.end()
      await removeContainer(this.#engine, this.#container)
    })()
    return this.#stopped
  }

  #check(): void {
    if (this.#stopped !== undefined) throw stoppedFault()
  }

  #path(path: string): string | undefined {
    this.#check()
    return boxPath(path, this.workdir)
  }

  async #make(
    argv: readonly string[],
    options: { env?: Readonly<Record<string, string>>; stdin?: boolean; user?: Owner } = {},
  ): Promise<string> {
    const { uid, gid } = options.user ?? boxUser
    const answer = await this.#engine.ask('POST', `/containers/${this.#container}/exec`, {
      json: {
        AttachStdin: options.stdin ?? false,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        User: `${uid}:${gid}`,
        Env: Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
        Cmd: argv,
      },
    })
    if (answer.status !== 201) throw this.#fault(answer)
    const { Id } = JSON.parse(answer.body.toString('utf8')) as { Id: string }
    return Id
  }

  /** The end of a command: of its streams, or, when something of it lives on, of itself. */
  async #end(exec: string, stream: NodeJS.EventEmitter, killed: () => boolean) {
    let closed = false
    const closing = new Promise<void>((resolve) => {
      const end = () => {
        closed = true
        resolve()
      }
      stream.once('end', end)
      stream.once('close', end)
    })
    let killedAt: number | undefined
    for (let wait = 10; ; wait = Math.min(wait * 2, 250)) {
      // An engine may call a command running for a while after its streams have closed.
      await (closed ? pause(wait) : Promise.race([closing, pause(wait)]))
      const answer = await this.#engine.ask('GET', `/exec/${exec}/json`)
      this.#check()
      if (answer.status !== 200) throw this.#fault(answer)
      const { Running, ExitCode } = JSON.parse(answer.body.toString('utf8')) as {
        Running: boolean
        ExitCode: number | null
      }
      if (!Running) {
        // What it wrote last is on its way.
        if (!closed) await Promise.race([closing, pause(100)])
        return { running: false, exitCode: ExitCode }
      }
      if (killed()) killedAt ??= performance.now()
      // Something in it cannot be killed from within, for instance since no process is left for that.
      if (killedAt !== undefined && performance.now() - killedAt > killGraceMs) {
        await this.#engine.ask('POST', `/containers/${this.#container}/kill`)
        this.#ruined = true
        return { running: false, exitCode: null }
      }
    }
  }

  async #kill(pid: string): Promise<void> {
    if (!/^\d+$/.test(pid)) return
    const exec = await this.#make(['/bin/sh', '-c', `kill -9 -- -${pid}; kill -9 ${pid}`])
    const stream = await this.#engine.attach(exec)
    stream.on('error', () => {})
    stream.resume()
  }

  async #get(path: string, maxBytes: number): Promise<{ ok: true; entries: TarEntry[] } | Refused> {
    if (this.#ruined) return nothingLeft()
    try {
      const answer = await this.#engine.ask('GET', `${this.#archive(path)}`, { maxBytes })
      if (answer.status !== 200) return this.#refusal(answer)
      return { ok: true, entries: readTar(answer.body) }
    } catch (error) {
      if (error instanceof AnswerTooLong) return refused('too_large', 'it is larger than was asked for')
      throw error
    }
  }

  async #put(entries: readonly SnapshotEntry[], owner: Owner): Promise<FileResult<object>> {
    this.#check()
    if (this.#ruined) return nothingLeft()
    const known = new Set(entries.map(({ path }) => path))
    const folders: SnapshotEntry[] = []
    // Folders on the way that are the box's own; others are there, or root's.
    for (const { path } of entries) {
      for (let at = posix.dirname(path); at.startsWith(`${this.workdir}/`); at = posix.dirname(at)) {
        if (known.has(at)) break
        known.add(at)
        folders.unshift({ kind: 'folder', path: at, mode: 0o755 })
      }
    }
    const tar = writeTar([...folders.sort((a, b) => a.path.length - b.path.length), ...entries], owner)
    const answer = await this.#engine.ask('PUT', `${this.#archive('/')}&noOverwriteDirNonDir=1`, { tar })
    return answer.status === 200 ? { ok: true } : this.#refusal(answer)
  }

  #archive(path: string): string {
    return `/containers/${this.#container}/archive?path=${percent(path)}`
  }

  /** What the engine says of a file that it did not give or take: the agent's doing, unless the container is gone. */
  #refusal(answer: EngineAnswer): Refused {
    const message = engineMessage(answer)
    if (/no such container|is not running/i.test(message)) throw this.#fault(answer)
    if (/no space|quota/i.test(message)) return refused('no_space', message)
    if (/read-only|permission denied|not permitted/i.test(message)) return refused('denied', message)
    if (/not a directory|is a directory|cannot overwrite|non-directory/i.test(message))
      return refused('wrong_kind', message)
    if (answer.status === 404) return refused('missing', message)
    if (answer.status === 400 || answer.status === 403) return refused('denied', message)
    throw this.#fault(answer)
  }

  #fault(answer: EngineAnswer): Error {
    if (this.#stopped !== undefined) return stoppedFault()
    const gone = answer.status === 404 || answer.status === 409
    return sandboxFault(
      gone ? 'sandbox_lost' : 'sandbox_io',
      `the container engine says: ${engineMessage(answer)}`,
    )
  }
}

function nothingLeft(): Refused {
  return refused('missing', 'nothing is left of the box')
}

/** Removes a container with its volumes, however often. */
export async function removeContainer(engine: Engine, container: string): Promise<void> {
  const answer = await engine.ask('DELETE', `/containers/${container}?force=1&v=1`)
  // Not there any more, or about not to be.
  if (![204, 200, 404, 409].includes(answer.status))
    throw sandboxFault('sandbox_io', `a container could not be removed: ${engineMessage(answer)}`)
}

function entryOf(file: PlacedFile): SnapshotEntry {
  return 'link' in file
    ? { kind: 'link', path: file.path, target: file.link }
    : { kind: 'file', path: file.path, mode: file.mode, data: file.data }
}

/** A path in a query, byte by byte: names need not be UTF-8. */
function percent(path: string): string {
  return bytesOfName(path).reduce((text, byte) => `${text}%${byte.toString(16).padStart(2, '0')}`, '')
}

/** As every driver gives them: a folder before what it holds, names in order. */
function inOrder(entries: readonly TarEntry[]): TarEntry[] {
  const key = (entry: TarEntry) => entry.path.replaceAll('/', '\0')
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
