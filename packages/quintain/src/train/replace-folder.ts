import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { messageOf, QuintainError } from '../core/errors.ts'

/**
 * Writes a folder whole or not at all: `fill` writes into a draft beside it, which takes its name when all of it is on the
 * disk. What was there before is there until then, also when the process is killed (`folderAsWritten` finds it). One
 * writer at a time.
 *
 * Throws `disk_full` and `output_io`, and what `fill` throws; the draft is removed then.
 */
export async function replaceFolder(folder: string, fill: (draft: string) => Promise<void>): Promise<void> {
  const places = placesOf(folder)
  const { target, draft, earlier } = places
  try {
    await settle(places)
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { recursive: true })
    await fill(draft)
    await syncAll(draft)
    if (await exists(target)) await rename(target, earlier)
    await rename(draft, target)
    await syncEntry(dirname(target))
    await rm(earlier, { recursive: true, force: true })
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {})
    await settle(places).catch(() => {})
    throw writeError(error, folder)
  }
}

/** Where what a folder holds is to be read: beside it, where a writer was killed before the new one had its name. */
export async function folderAsWritten(folder: string): Promise<string> {
  const { target, earlier } = placesOf(folder)
  return !(await exists(target)) && (await exists(earlier)) ? earlier : target
}

/** Puts back what a writer that was killed, or failed, had moved aside. */
async function settle({ target, earlier }: Places): Promise<void> {
  if (!(await exists(earlier))) return
  if (await exists(target)) await rm(earlier, { recursive: true, force: true })
  else await rename(earlier, target)
}

interface Places {
  target: string
  /** What is being written. */
  draft: string
  /** What was there, while the draft takes its name. */
  earlier: string
}

function placesOf(folder: string): Places {
  const target = resolve(folder)
  const beside = (what: string): string => join(dirname(target), `.${basename(target)}.${what}`)
  return { target, draft: beside('draft'), earlier: beside('earlier') }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** A rename that reached the disk before what it names would leave empty files after a power cut. */
async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncAll(path)
    else await syncEntry(path)
  }
  await syncEntry(folder)
}

async function syncEntry(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function writeError(error: unknown, folder: string): unknown {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException
  if (typeof syscall !== 'string') return error
  const facts = { folder, code }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new QuintainError(
      'disk_full',
      `The disk that is to hold ${folder} is full. Nothing of it was written, and what was there before is as it was: make room and write it again.`,
      { cause: error, facts },
    )
  }
  return new QuintainError('output_io', `Writing ${folder} failed: ${messageOf(error)}.`, {
    cause: error,
    facts,
  })
}
