import { createConnection, type Socket } from 'node:net'
import type {
  Box,
  BoxEntry,
  ExecOptions,
  ExecResult,
  FileRefusal,
  FileResult,
  ReadOptions,
  Snapshot,
  SnapshotEntry,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import { boxPath, bytesOfName, nameOfBytes } from '../box-name.ts'
import { type BoxPlan, checkVariables, type PlacedFile } from '../box-options.ts'
import { outputFields, type StreamOutput } from '../command-output.ts'
import { notStarted, signalName, toCommand } from '../exec-result.ts'
import { noSuchPath, type Refused, refused } from '../file-refusal.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import { defaultReadBytes, snapshotLimits } from '../snapshot-limits.ts'
import { type Channel, type Frame, packFields, unpackFields } from './channel.ts'

/** What holds a box up: the process namespace and what limits it. */
export interface Housing {
  /** Ends everything in the box; resolves when nothing of it is left. */
  end(): Promise<void>
  outOfMemoryKills(): number | null
  /** The shell for commands that are text. */
  shell: string
}

interface Pending {
  frame(frame: Frame): void
  /** The box is gone; nothing more will come. */
  gone(): void
}

const chunkBytes = 262_144
/** How long a command that was killed may take to be dead before its box is taken for stuck. */
const killGraceMs = 10_000
const listedEntries = 20_000
const mostUnread = 64 * 2 ** 20

/** A box whose inside is reached over the channel to its supervisor only: no path of it is ever opened from here. */
export class BwrapBox implements Box {
  readonly driver = 'bwrap'
  readonly isolation = 'namespaces'
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #channel: Channel
  readonly #housing: Housing
  readonly #pending = new Map<number, Pending>()
  readonly #connections = new Map<number, Socket>()
  /** Which of the plan's sockets a listener of the supervisor is. */
  readonly #listeners = new Map<number, number>()
  #lastId = 0
  #state: 'up' | 'stopped' | 'lost' | 'ruined' = 'up'
  #stopped: Promise<void> | undefined

  constructor(id: string, plan: BoxPlan, channel: Channel, housing: Housing) {
    this.id = id
    this.workdir = plan.workdir
    this.#plan = plan
    this.#channel = channel
    this.#housing = housing
  }

  /** What the supervisor says. */
  take(frame: Frame): void {
    if (frame.type === 'C') this.#connect(frame)
    else if (frame.type === 'P') this.#forward(frame)
    else if (frame.type === 'F') this.#connections.get(frame.id)?.end()
    else if (frame.type === 'z') this.#connections.get(frame.id)?.destroy()
    else this.#pending.get(frame.id)?.frame(frame)
  }

  /** The supervisor is gone. A box that its own commands brought down goes on as one in which nothing is left. */
  gone(): void {
    if (this.#state === 'up') this.#state = (this.#housing.outOfMemoryKills() ?? 0) > 0 ? 'ruined' : 'lost'
    for (const socket of this.#connections.values()) socket.destroy()
    for (const pending of [...this.#pending.values()]) pending.gone()
    this.#pending.clear()
  }

  /** Puts the first files in place and opens the sockets. Throws a sandbox fault when that does not work. */
  async furnish(files: readonly PlacedFile[]): Promise<void> {
    const made = files.map((file) => this.#place(file))
    const listening = this.#plan.sockets.map(({ box }, index) => {
      const where = 'port' in box ? (['port', String(box.port)] as const) : (['path', box.path] as const)
      const id = this.#nextId()
      this.#listeners.set(id, index)
      return this.#ask('n', [...where], undefined, id)
    })
    for (const result of await Promise.all([...made, ...listening])) {
      if (!result.ok)
        throw sandboxFault('sandbox_start_failed', `the box could not be filled: ${result.message}`)
    }
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    checkVariables(options.env ?? {})
    const began = performance.now()
    this.#check()
    const argv = toCommand(command, this.#housing.shell)
    const cwd = boxPath(options.cwd ?? this.workdir, this.workdir)
    if (argv === undefined || cwd === undefined) return notStarted('invalid', began)
    if (options.signal?.aborted) return { ...notStarted('aborted', began), aborted: true }
    if (this.#state === 'ruined') return notStarted('no_process', began)
    const limits = this.#plan.limits
    const killsBefore = this.#housing.outOfMemoryKills()
    const id = this.#nextId()
    const out: Collected = { parts: [], bytes: 0, written: 0 }
    const err: Collected = { parts: [], bytes: 0, written: 0 }
    const cap = Math.min(options.outputBytes ?? limits.outputBytes, limits.outputBytes)
    const finished = (fields: Partial<ExecResult>): ExecResult => {
      const kills = this.#housing.outOfMemoryKills()
      return {
        exitCode: null,
        signal: null,
        timedOut: false,
        aborted: false,
        outOfMemory: kills === null || killsBefore === null ? null : kills > killsBefore,
        ...outputFields(kept(out, cap), kept(err, cap), options.binary === true),
        durationMs: performance.now() - began,
        ...fields,
      }
    }
    return new Promise<ExecResult>((resolve, reject) => {
      let ended: { timedOut: boolean; aborted: boolean } = { timedOut: false, aborted: false }
      let stuck: NodeJS.Timeout | undefined
      const kill = (why: Partial<typeof ended>) => {
        if (ended.timedOut || ended.aborted) return
        ended = { ...ended, ...why }
        this.#channel.send('k', id, packFields([]))
        stuck = setTimeout(() => void this.#housing.end(), killGraceMs)
      }
      const deadline = setTimeout(
        () => kill({ timedOut: true }),
        Math.min(options.wallMs ?? limits.wallMs, limits.wallMs),
      )
      const abort = () => kill({ aborted: true })
      options.signal?.addEventListener('abort', abort, { once: true })
      const settle = (result: Partial<ExecResult> | Error) => {
        clearTimeout(deadline)
        clearTimeout(stuck)
        options.signal?.removeEventListener('abort', abort)
        this.#pending.delete(id)
        if (result instanceof Error) reject(result)
        else resolve(finished({ ...result, ...ended }))
      }
      this.#pending.set(id, {
        frame: ({ type, body }) => {
          if (type === 'o') collect(out, body)
          else if (type === 'p') collect(err, body)
          else if (type === 'E') settle({ notStarted: startRefusal(body.toString('latin1')) })
          else if (type === 'X') {
            const [code, signal, wroteOut, wroteErr] = unpackFields(body).map(Number)
            out.written = wroteOut!
            err.written = wroteErr!
            settle(signal === 0 ? { exitCode: code! } : { signal: signalName(signal!) })
          }
        },
        gone: () => {
          out.written = out.bytes
          err.written = err.bytes
          if (this.#state === 'ruined' || ended.timedOut || ended.aborted) settle({ signal: 'SIGKILL' })
          else settle(this.#fault())
        },
      })
      const env = Object.entries({ ...this.#plan.env, ...options.env })
      const fields = [
        cwd,
        cap,
        Math.ceil(limits.cpuMs / 1000),
        options.stdin === undefined ? '' : 1,
        env.length,
      ]
      this.#channel.send('x', id, packFields([...fields, ...env.flat(), ...argv].map(encoded)))
      if (options.stdin !== undefined) {
        this.#sendChunks('i', id, Buffer.from(options.stdin as string))
        this.#channel.send('e', id, empty)
      }
    })
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = boxPath(path, this.workdir)
    if (whole === undefined) return noSuchPath()
    const parts: Buffer[] = []
    const result = await this.#ask(
      'r',
      [bytesOfName(whole), maxBytes],
      (body) => void parts.push(Buffer.from(body)),
    )
    if (!result.ok) return result
    return { ok: true as const, data: new Uint8Array(Buffer.concat(parts)), mode: Number(result.extra) }
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    const whole = boxPath(path, this.workdir)
    if (whole === undefined) return noSuchPath()
    return plain(await this.#place({ path: whole, mode: mode & 0o777, data: Buffer.from(data as string) }))
  }

  async list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
    const whole = boxPath(path, this.workdir)
    if (whole === undefined) return noSuchPath()
    const parts: Buffer[] = []
    const result = await this.#ask('l', [bytesOfName(whole), listedEntries], (body) => void parts.push(body))
    if (!result.ok) return result
    const entries = parts.map((body): BoxEntry => {
      const [name, kind, size, mode] = unpackFields(body)
      return {
        name: nameOfBytes(name!),
        kind: kinds[kind!.toString('latin1')] ?? 'other',
        size: Number(size),
        mode: Number(mode),
      }
    })
    return { ok: true, entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  async snapshot(
    paths: readonly string[] = [this.workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    const { maxBytes, maxEntries } = snapshotLimits(options)
    const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
    const wanted: Buffer[] = []
    for (const path of paths) {
      const whole = boxPath(path, this.workdir)
      if (whole === undefined) snapshot.skipped.push({ path, reason: 'missing' })
      else wanted.push(bytesOfName(whole))
    }
    const reader = new SnapshotReader(snapshot)
    const result = await this.#ask('s', [maxBytes, maxEntries, ...wanted], (body, type) =>
      reader.take(body, type),
    )
    reader.end()
    if (!result.ok)
      snapshot.skipped.push(
        ...paths.map((path) => ({ path: boxPath(path, this.workdir) ?? path, reason: result.reason })),
      )
    return snapshot
  }

  async restore(snapshot: Snapshot, { at }: { at?: string } = {}): Promise<FileResult<object>> {
    const base = at === undefined ? '/' : boxPath(at, this.workdir)
    if (base === undefined) return noSuchPath()
    const results = await Promise.all(
      snapshot.entries.map((entry) => {
        const path = boxPath(`${base}/${entry.path}`, '/')!
        if (entry.kind === 'folder') return this.#ask('m', [bytesOfName(path), entry.mode & 0o777])
        if (entry.kind === 'link') return this.#place({ path, link: entry.target })
        return this.#place({ path, mode: entry.mode & 0o777, data: entry.data })
      }),
    )
    return plain(results.find(({ ok }) => !ok) ?? { ok: true, extra: '' })
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      this.#state = 'stopped'
      this.#channel.close()
      this.gone()
      await this.#housing.end()
    })()
    return this.#stopped
  }

  #place(file: PlacedFile): Promise<Answer> {
    if ('link' in file) return this.#ask('L', [bytesOfName(file.path), bytesOfName(file.link)])
    const id = this.#nextId()
    const answer = this.#ask('w', [bytesOfName(file.path), file.mode], undefined, id)
    if (this.#state === 'up') {
      this.#sendChunks('d', id, file.data)
      this.#channel.send('c', id, empty)
    }
    return answer
  }

  /** Sends a request; data frames go to `into`. Throws a sandbox fault when the box is gone. */
  #ask(
    type: string,
    fields: readonly (string | number | Uint8Array)[],
    into: (body: Buffer, type: string) => void = () => {},
    id = this.#nextId(),
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#check()
      if (this.#state === 'ruined') return resolve(refused('missing', 'nothing is left of the box'))
      this.#pending.set(id, {
        frame: ({ type: got, body }) => {
          if (got === 'D' || got === 'B') return into(body, got)
          this.#pending.delete(id)
          const [reason, extra] = unpackFields(body).map((field) => field.toString('utf8'))
          resolve(
            reason === '' ? { ok: true, extra: extra ?? '' } : refused(reason as FileRefusal, extra ?? ''),
          )
        },
        gone: () =>
          this.#state === 'ruined'
            ? resolve(refused('missing', 'nothing is left of the box'))
            : reject(this.#fault()),
      })
      this.#channel.send(type, id, packFields(fields))
    })
  }

  #sendChunks(type: string, id: number, data: Uint8Array): void {
    for (let at = 0; at < data.length; at += chunkBytes) {
      this.#channel.send(type, id, data.subarray(at, at + chunkBytes))
    }
  }

  /** A program in the box has connected to one of its sockets. */
  #connect({ id, body }: Frame): void {
    const target = this.#plan.sockets[this.#listeners.get(Number(unpackFields(body)[0])) ?? -1]?.host
    if (target === undefined) {
      this.#channel.send('z', id, empty)
      return
    }
    const socket = createConnection({
      ...('port' in target ? { port: target.port, host: '127.0.0.1' } : { path: target.path }),
      allowHalfOpen: true,
    })
    this.#connections.set(id, socket)
    socket.on('data', (chunk: Buffer) => this.#sendChunks('p', id, chunk))
    socket.on('end', () => this.#channel.send('f', id, empty))
    socket.on('error', () => this.#channel.send('z', id, empty))
    socket.on('close', () => this.#connections.delete(id))
  }

  #forward({ id, body }: Frame): void {
    const socket = this.#connections.get(id)
    if (socket === undefined) return
    socket.write(Buffer.from(body))
    // Nobody reads what the box sends without end.
    if (socket.writableLength > mostUnread) socket.destroy(new Error('unread'))
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #check(): void {
    if (this.#state === 'stopped' || this.#state === 'lost') throw this.#fault()
  }

  #fault(): Error {
    return this.#state === 'stopped'
      ? stoppedFault()
      : sandboxFault('sandbox_lost', 'the box ended without being stopped')
  }
}

type Answer = { ok: true; extra: string } | Refused

interface Collected {
  parts: Buffer[]
  bytes: number
  written: number
}

const empty = Buffer.alloc(0)
const kinds: Record<string, BoxEntry['kind']> = { f: 'file', d: 'folder', l: 'link', o: 'other' }

function collect(into: Collected, body: Buffer): void {
  // Copied: a frame is a view into what was received with it.
  into.parts.push(Buffer.from(body))
  into.bytes += body.length
}

function kept({ parts, written, bytes }: Collected, cap: number): StreamOutput {
  const all = Buffer.concat(parts)
  return { bytes: all, head: Math.min(bytes, Math.floor(cap / 2)), written: Math.max(written, bytes) }
}

function encoded(field: string | number): string | number | Uint8Array {
  return typeof field === 'string' ? bytesOfName(field) : field
}

function plain(answer: Answer): FileResult<object> {
  return answer.ok ? { ok: true } : answer
}

function startRefusal(text: string): NonNullable<ExecResult['notStarted']> {
  const known = ['not_found', 'not_executable', 'no_folder', 'no_process', 'too_long'] as const
  return known.find((reason) => reason === text) ?? 'not_executable'
}

/** Puts the entries of a snapshot together from what the supervisor sends: an entry, then the bytes of a file. */
class SnapshotReader {
  readonly #snapshot: Snapshot
  #file: { path: string; mode: number; parts: Buffer[] } | undefined

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  take(body: Buffer, type: string): void {
    if (type === 'B') {
      this.#file?.parts.push(Buffer.from(body))
      return
    }
    const [kind, name, extra] = unpackFields(body)
    const path = nameOfBytes(name!)
    const letter = kind!.toString('latin1')
    // A file that could not be read to its end is said to be skipped after it was begun.
    if (letter === 's' && this.#file?.path === path) this.#file = undefined
    this.end()
    if (letter === 'f') this.#file = { path, mode: Number(extra), parts: [] }
    else if (letter === 's')
      this.#snapshot.skipped.push({ path, reason: extra!.toString('latin1') as FileRefusal })
    else this.#snapshot.entries.push(entryOf(letter, path, extra!))
  }

  end(): void {
    if (this.#file === undefined) return
    const { path, mode, parts } = this.#file
    this.#snapshot.entries.push({ kind: 'file', path, mode, data: new Uint8Array(Buffer.concat(parts)) })
    this.#file = undefined
  }
}

function entryOf(letter: string, path: string, extra: Buffer): SnapshotEntry {
  return letter === 'l'
    ? { kind: 'link', path, target: nameOfBytes(extra) }
    : { kind: 'folder', path, mode: Number(extra) }
}
