import type { FileRefusal } from '../core/sandbox.ts'

export interface Refused {
  ok: false
  reason: FileRefusal
  message: string
}

export function refused(reason: FileRefusal, message: string): Refused {
  return { ok: false, reason, message }
}

/** A path that no file can have. */
export function noSuchPath(): Refused {
  return refused('missing', 'no file can have this path')
}

const reasons: Partial<Record<string, FileRefusal>> = {
  ENOENT: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  EBUSY: 'denied',
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  ENAMETOOLONG: 'too_large',
  EFBIG: 'too_large',
}

/** What an error of a file system means for whoever asked for a file. The message holds no path of the host. */
export function refusalOf(error: unknown): Refused {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return refused(reasons[code ?? ''] ?? 'wrong_kind', code ?? 'it could not be opened')
}
