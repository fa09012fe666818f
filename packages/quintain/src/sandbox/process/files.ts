import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BoxEntry, FileResult, ReadOptions, Snapshot, SnapshotOptions } from '../../core/sandbox.ts'
import { boxPath, bytesOfName, nameOfBytes } from '../box-name.ts'
import type { PlacedFile } from '../box-options.ts'
import { noSuchPath, type Refused, refusalOf, refused } from '../file-refusal.ts'
import { defaultReadBytes, snapshotLimits } from '../snapshot-limits.ts'

/** While a folder is filled, its owner must be able to. */
const ownersOwn = 0o700

/** The files of a process box: paths of the box are paths below its folder. */
export class ProcessFiles {
  readonly #root: string
  readonly #workdir: string

  /** `root`: the folder of the box; `workdir`: its working directory, as a path of the box. */
  constructor(root: string, workdir: string) {
    this.#root = root
    this.#workdir = workdir
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = this.inside(path)
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

  async write(path: string, data: string | Uint8Array, mode: number): Promise<FileResult<object>> {
    const whole = boxPath(this.#own(path), this.#workdir)
    if (whole === undefined) return noSuchPath()
    return this.place({ path: whole, mode: mode & 0o777, data: Buffer.from(data as string) })
  }

  async list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
    const whole = this.inside(path)
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
    paths: readonly string[] = [this.#workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    let { maxBytes, maxEntries } = snapshotLimits(options)
    const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
    const stack = paths
      .flatMap((path) => {
        const whole = boxPath(this.#own(path), this.#workdir)
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

  /** Restores all that can be; the answer is the first refusal. */
  async restore(snapshot: Snapshot, at = '/'): Promise<FileResult<object>> {
    const base = boxPath(this.#own(at), this.#workdir)
    if (base === undefined) return noSuchPath()
    const entries = snapshot.entries.map((entry) => ({
      ...entry,
      path: boxPath(`${base}/${entry.path}`, '/')!,
    }))
    let refusal: FileResult<object> | undefined
    const note = (made: FileResult<object>) => {
      if (!made.ok) refusal ??= made
    }
    for (const entry of entries) {
      if (entry.kind === 'folder') note(await this.#makeFolder(entry.path, (entry.mode & 0o777) | ownersOwn))
      else if (entry.kind === 'link') note(await this.place({ path: entry.path, link: entry.target }))
      else note(await this.place({ path: entry.path, mode: entry.mode & 0o777, data: entry.data }))
    }
    // What is in a folder is there by the time that it gets its own mode, the innermost first.
    for (const entry of entries.toReversed()) {
      if (entry.kind === 'folder' && (entry.mode & ownersOwn) !== ownersOwn)
        note(await this.#makeFolder(entry.path, entry.mode & 0o777))
    }
    return refusal ?? { ok: true }
  }

  /** A path as the box's own, whichever of both it was given as. */
  #own(path: string): string {
    return path === this.#root || path.startsWith(`${this.#root}/`)
      ? path.slice(this.#root.length) || '/'
      : path
  }

  /** Where a path of the box is on this machine; undefined for what no path can be. */
  inside(path: string): string | undefined {
    const whole = boxPath(this.#own(path), this.#workdir)
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

  /** Puts a file or a link in its place, with the folders on the way. */
  async place(file: PlacedFile): Promise<FileResult<object>> {
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
      // A name of its own: the file's may be as long as there can be.
      const temporary = join(dirname(path), `.box-${Math.random().toString(36).slice(2)}~`)
      const handle = await open(bytesOfName(temporary), 'wx', file.mode)
      try {
        await handle.writeFile(file.data).finally(() => handle.close())
        await chmod(bytesOfName(temporary), file.mode)
        // Renamed into place: a link that stands there is replaced and not followed.
        await rename(bytesOfName(temporary), bytesOfName(path))
      } catch (error) {
        await rm(bytesOfName(temporary), { force: true })
        throw error
      }
      return { ok: true }
    } catch (error) {
      return refusalOf(error)
    }
  }
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
