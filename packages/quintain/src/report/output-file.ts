import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'

/** A file that is made from a run: what it is in words, and how every one of ours begins. */
export interface OutputKind {
  /** `report`, `picture`. */
  name: string
  /** A file that begins so is ours, and may be overwritten. */
  mark: string
  /** What makes it smaller, for when the disk is full. */
  smaller?: string
}

/** A failed write as one of ours. Nothing was left behind, and the run itself was only read. */
export function outputError(error: unknown, file: string, { smaller }: OutputKind): unknown {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  if (QuintainError.isInstance(error) || typeof syscall !== 'string') return error
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new QuintainError(
      'disk_full',
      `The disk is full, so ${file} was not written. Make room${smaller === undefined ? '' : `, or ${smaller}`}.`,
      { cause: error, facts: { file } },
    )
  }
  // Not the system's words: they name a file that is no longer there.
  const why = code === 'ENOENT' ? 'there is no such folder' : `the system says ${code}`
  return new QuintainError(
    'output_io',
    `${file} cannot be written: ${why}. Name a file in a folder that exists and that you may write to.`,
    { cause: error, facts: { file, code } },
  )
}

/** Throws `output_exists` when there is something at `file` that is not ours, and `output_io` for what is no file. */
export async function checkTarget(file: string, { name, mark }: OutputKind, force: boolean): Promise<void> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  try {
    if (!(await handle.stat()).isFile()) {
      throw new QuintainError('output_io', `${file} is no file. Name the file to write.`, { facts: { file } })
    }
    if (force) return
    const length = Buffer.byteLength(mark)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    if (bytesRead > 0 && buffer.toString('utf8', 0, bytesRead) !== mark) {
      throw new QuintainError(
        'output_exists',
        `${file} exists and is no ${name} that Quintain wrote. Name another file, or overwrite it with --force.`,
        { facts: { file } },
      )
    }
  } finally {
    await handle.close()
  }
}

/** Writes a text that begins with the mark of its kind, whole or not at all. Throws what `checkTarget` throws, and `disk_full`. */
export async function writeOutput(
  file: string,
  text: string,
  { kind, force = false }: { kind: OutputKind; force?: boolean },
): Promise<void> {
  const target = resolve(file)
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}`)
  try {
    await checkTarget(target, kind, force)
    await writeFile(temporary, text, { flag: 'wx' })
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw outputError(error, file, kind)
  }
}
