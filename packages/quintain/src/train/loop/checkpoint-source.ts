import { relative, resolve } from 'node:path'
import { QuintainError } from '../../core/index.ts'
import type { TrainingRecord } from '../records.ts'
import type { CheckpointSource, Sitting } from './train-options.ts'

/**
 * Where a checkpoint lies, as the record of a training in `dir` keeps it: from that folder, so that no machine's folders are
 * in a record and the training is taken up from anywhere.
 */
export function recordedSource({ path, digest }: CheckpointSource, dir: string, cwd = '.'): CheckpointSource {
  const from = relative(dir, resolve(cwd, path))
  // What begins with a dot is a path to whoever reads it again.
  return { path: from.startsWith('.') ? from : `./${from}`, digest }
}

/** Where a checkpoint lies that the record of a training in `dir` names. */
export function sourcePath({ path }: CheckpointSource, dir: string): string {
  return path.startsWith('.') ? resolve(dir, path) : path
}

/** Throws `training_mismatch` for a reference or a teacher that is another than the training began with. */
export function checkSameSources(
  record: Pick<TrainingRecord, 'reference' | 'teacher'>,
  { referenceFrom, teacherFrom }: Pick<Sitting, 'referenceFrom' | 'teacherFrom'>,
): void {
  for (const [who, began, now] of [
    ['reference', record.reference, referenceFrom],
    ['teacher', record.teacher, teacherFrom],
  ] as const) {
    if (began === undefined || now === undefined || began.digest === now.digest) continue
    throw new QuintainError(
      'training_mismatch',
      `The ${who} of this training was replaced since it began: the checkpoint ${now.path} has the digest ${now.digest.slice(0, 16)}…, and had ${began.digest.slice(0, 16)}…. Put back the one that it began with, or begin a new training from the newest checkpoint.`,
      { facts: { who, path: now.path, began: began.digest, now: now.digest } },
    )
  }
}
