import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson, QuintainError, sha256 } from '../../core/index.ts'
import { ioError } from '../../core/io-error.ts'
import type { TrainingRecord } from '../records.ts'
import { trainingFiles } from '../training-folder.ts'

/**
 * Throws `training_mismatch` for a record whose algorithm or seed was changed since it was written: what was trained until then
 * was not trained by them.
 */
export function checkUnchanged(record: TrainingRecord): void {
  if (record.digest === undefined || record.digest === digestOf(record)) return
  throw new QuintainError(
    'training_mismatch',
    `The algorithm or the seed in ${trainingFiles.training} was changed since the training began, and what was trained until now was not trained by it. Put back what stood there; for another recipe begin a new training from a checkpoint of this one (--from).`,
  )
}

function digestOf({ algorithm, seed }: TrainingRecord): string {
  return sha256(canonicalJson({ algorithm, seed }))
}

/** Writes `train.json` of a new training, whole or not at all. Throws `disk_full` and `journal_io`. */
export async function writeTrainingRecord(dir: string, record: TrainingRecord): Promise<void> {
  const draft = join(dir, `.${trainingFiles.training}.new`)
  try {
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify({ ...record, digest: digestOf(record) }, null, 2)}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(draft, join(dir, trainingFiles.training))
  } catch (error) {
    throw ioError(error, dir)
  }
}
