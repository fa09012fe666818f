import type {
  BoxEntry,
  FileRefusal,
  FileResult,
  ReadOptions,
  Snapshot,
  SnapshotEntry,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import { boxPath, bytesOfName, nameOfBytes } from '../box-name.ts'
import type { PlacedFile } from '../box-options.ts'
import { noSuchPath } from '../file-refusal.ts'
import { defaultReadBytes, mostNameBytes, snapshotLimits } from '../snapshot-limits.ts'
import { unpackFields } from './channel.ts'
import type { Answer, BoxLink } from './link.ts'

const listedEntries = 20_000
/** While a folder is filled, its owner must be able to. */
const ownersOwn = 0o700

/** The files of a bwrap box. They are reached through its supervisor only: no path of a box is ever opened from here. */
export class BwrapFiles {
  readonly #link: BoxLink
  readonly #workdir: string

  constructor(link: BoxLink, workdir: string) {
    this.#link = link
    this.#workdir = workdir
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = boxPath(path, this.#workdir)
    if (whole === undefined) return noSuchPath()
    const parts: Buffer[] = []
    const result = await this.#link.ask(
      'r',
      [bytesOfName(whole), maxBytes],
      (body) => void parts.push(Buffer.from(body)),
    )
    if (!result.ok) return result
    return { ok: true as const, data: new Uint8Array(Buffer.concat(parts)), mode: Number(result.extra) }
  }

  async write(path: string, data: string | Uint8Array, mode: number): Promise<FileResult<object>> {
    const whole = boxPath(path, this.#workdir)
    if (whole === undefined) return noSuchPath()
    return plain(await this.place({ path: whole, mode: mode & 0o777, data: Buffer.from(data as string) }))
  }

  async list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
    const whole = boxPath(path, this.#workdir)
    if (whole === undefined) return noSuchPath()
    const parts: Buffer[] = []
    const result = await this.#link.ask(
      'l',
      [bytesOfName(whole), listedEntries],
      (body) => void parts.push(body),
    )
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
    paths: readonly string[] = [this.#workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    const { maxBytes, maxEntries } = snapshotLimits(options)
    const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
    const wanted: Buffer[] = []
    for (const path of paths) {
      const whole = boxPath(path, this.#workdir)
      if (whole === undefined) snapshot.skipped.push({ path, reason: 'missing' })
      else wanted.push(bytesOfName(whole))
    }
    const reader = new SnapshotReader(snapshot)
    const fields = [maxBytes, maxEntries, mostNameBytes, options.still === true ? 1 : '', ...wanted]
    const result = await this.#link.ask('s', fields, (body, type) => reader.take(body, type))
    reader.end()
    if (!result.ok)
      snapshot.skipped.push(
        ...paths.map((path) => ({ path: boxPath(path, this.#workdir) ?? path, reason: result.reason })),
      )
    return snapshot
  }

  /** Restores all that can be; the answer is the first refusal. */
  async restore(snapshot: Snapshot, at: string | undefined): Promise<FileResult<object>> {
    const base = at === undefined ? '/' : boxPath(at, this.#workdir)
    if (base === undefined) return noSuchPath()
    const entries = snapshot.entries.map((entry) => ({
      ...entry,
      path: boxPath(`${base}/${entry.path}`, '/')!,
    }))
    const folder = (path: string, mode: number) => this.#link.ask('m', [bytesOfName(path), mode & 0o777])
    const made = entries.map((entry) => {
      if (entry.kind === 'folder') return folder(entry.path, entry.mode | ownersOwn)
      if (entry.kind === 'link') return this.place({ path: entry.path, link: entry.target })
      return this.place({ path: entry.path, mode: entry.mode & 0o777, data: entry.data })
    })
    // What is in a folder is there by the time that it gets its own mode, the innermost first.
    for (const entry of entries.toReversed()) {
      if (entry.kind === 'folder' && (entry.mode & ownersOwn) !== ownersOwn)
        made.push(folder(entry.path, entry.mode))
    }
    const results = await Promise.all(made)
    return plain(results.find(({ ok }) => !ok) ?? { ok: true, extra: '' })
  }

  place(file: PlacedFile): Promise<Answer> {
    if ('link' in file) return this.#link.ask('L', [bytesOfName(file.path), bytesOfName(file.link)])
    const id = this.#link.nextId()
    const answer = this.#link.ask('w', [bytesOfName(file.path), file.mode], undefined, id)
    if (this.#link.isUp) {
      if (file.data.length > 0) this.#link.sendBytes('d', id, file.data)
      this.#link.sendBytes('c', id)
    }
    return answer
  }
}

const kinds: Record<string, BoxEntry['kind']> = { f: 'file', d: 'folder', l: 'link', o: 'other' }

function plain(answer: Answer): FileResult<object> {
  return answer.ok ? { ok: true } : answer
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
