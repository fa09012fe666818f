import { posix } from 'node:path'
import type { Bash } from 'just-bash'
import type { BoxEntry, FileResult, Snapshot, SnapshotOptions } from '../../core/sandbox.ts'
import type { PlacedFile } from '../box-options.ts'
import { type Refused, refusalOf, refused } from '../file-refusal.ts'
import { snapshotLimits } from '../snapshot-limits.ts'

type Files = Bash['fs']

/** The interpreter's file system names what is wrong at the start of its messages. */
export function memoryRefusal(error: unknown): Refused {
  const message = error instanceof Error ? error.message : String(error)
  const code =
    /\b(E[A-Z]{3,}|ENOSPC)\b/.exec(message)?.[1] ??
    (/limit|exceed|space/i.test(message) ? 'ENOSPC' : undefined)
  return refusalOf({ code })
}

export async function readFile(files: Files, path: string, maxBytes: number) {
  try {
    const real = await files.realpath(path)
    if (real.split('/')[1] !== path.split('/')[1]) return refused('outside', 'a link leads out of its folder')
    const stat = await files.stat(path)
    if (!stat.isFile) return refused('wrong_kind', 'it is no regular file')
    if (stat.size > maxBytes) return refused('too_large', `it has ${stat.size} bytes`)
    return { ok: true as const, data: await files.readFileBuffer(path), mode: stat.mode & 0o7777 }
  } catch (error) {
    return memoryRefusal(error)
  }
}

export async function placeFile(files: Files, file: PlacedFile): Promise<FileResult<object>> {
  try {
    await files.mkdir(posix.dirname(file.path), { recursive: true })
    const there = await files.lstat(file.path).catch(() => undefined)
    if (there?.isDirectory) return refused('wrong_kind', 'it is a folder')
    // What stands there is replaced: a link is not followed.
    if (there?.isSymbolicLink || (there !== undefined && 'link' in file)) await files.rm(file.path)
    if ('link' in file) await files.symlink(file.link, file.path)
    else {
      await files.writeFile(file.path, file.data)
      await files.chmod(file.path, file.mode)
    }
    return { ok: true }
  } catch (error) {
    return memoryRefusal(error)
  }
}

export async function listFolder(files: Files, path: string): Promise<FileResult<{ entries: BoxEntry[] }>> {
  try {
    const names = (await files.readdir(path)).sort()
    const entries = await Promise.all(
      names.map(async (name) => ({ name, ...(await describe(files, posix.join(path, name))) })),
    )
    return { ok: true, entries }
  } catch (error) {
    return memoryRefusal(error)
  }
}

export async function snapshotOf(
  files: Files,
  paths: readonly string[],
  options: SnapshotOptions,
): Promise<Snapshot> {
  let { maxBytes, maxEntries } = snapshotLimits(options)
  const snapshot: Snapshot = { version: 1, entries: [], skipped: [] }
  const stack = [...paths].reverse()
  while (stack.length > 0) {
    const path = stack.pop()!
    if (maxEntries-- <= 0) {
      snapshot.skipped.push({ path, reason: 'too_large' })
      break
    }
    try {
      const { kind, mode, size } = await describe(files, path)
      if (kind === 'link') snapshot.entries.push({ kind, path, target: await files.readlink(path) })
      else if (kind === 'folder') {
        snapshot.entries.push({ kind, path, mode })
        stack.push(
          ...(await files.readdir(path))
            .sort()
            .reverse()
            .map((name) => posix.join(path, name)),
        )
      } else if (size > maxBytes) snapshot.skipped.push({ path, reason: 'too_large' })
      else {
        maxBytes -= size
        snapshot.entries.push({ kind: 'file', path, mode, data: await files.readFileBuffer(path) })
      }
    } catch (error) {
      snapshot.skipped.push({ path, reason: memoryRefusal(error).reason })
    }
  }
  return snapshot
}

/** Restores all that can be; the answer is the first refusal. */
export async function restoreInto(files: Files, snapshot: Snapshot, at: string): Promise<FileResult<object>> {
  let refusal: FileResult<object> | undefined
  for (const entry of snapshot.entries) {
    const path = posix.join(at, entry.path)
    const made =
      entry.kind === 'folder'
        ? await makeFolder(files, path, entry.mode & 0o777)
        : await placeFile(
            files,
            entry.kind === 'link'
              ? { path, link: entry.target }
              : { path, mode: entry.mode & 0o777, data: entry.data },
          )
    if (!made.ok) refusal ??= made
  }
  return refusal ?? { ok: true }
}

async function makeFolder(files: Files, path: string, mode: number): Promise<FileResult<object>> {
  try {
    await files.mkdir(path, { recursive: true })
    await files.chmod(path, mode)
    return { ok: true }
  } catch (error) {
    return memoryRefusal(error)
  }
}

async function describe(files: Files, path: string): Promise<Omit<BoxEntry, 'name'>> {
  const { isFile, isDirectory, isSymbolicLink, size, mode } = await files.lstat(path)
  const kind = isSymbolicLink ? 'link' : isDirectory ? 'folder' : isFile ? 'file' : 'other'
  return { kind, size, mode: mode & 0o7777 }
}
