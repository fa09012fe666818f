import { messageOf, QuintainError } from './errors.ts'

/** What a failed write to a run's folder is told as: `disk_full` when there is no room, `journal_io` for the rest. */
export function ioError(error: unknown, dir: string): QuintainError {
  if (QuintainError.isInstance(error)) return error
  const code = (error as NodeJS.ErrnoException | null)?.code
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

/** Errors of the system as ours; anything else, such as a slip in this code, is left as it is. */
export function systemErrorAsOurs(error: unknown, dir: string): unknown {
  return typeof (error as NodeJS.ErrnoException | null)?.syscall === 'string' ? ioError(error, dir) : error
}
