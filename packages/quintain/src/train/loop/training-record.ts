import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ioError } from '../../core/io-error.ts'
import type { TrainingRecord } from '../records.ts'
import { trainingFiles } from '../training-folder.ts'

/** Writes `train.json` of a new training, whole or not at all. Throws `disk_full` and `journal_io`. */
export async function writeTrainingRecord(dir: string, record: TrainingRecord): Promise<void> {
  const draft = join(dir, `.${trainingFiles.training}.new`)
  try {
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(record, null, 2)}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(draft, join(dir, trainingFiles.training))
  } catch (error) {
    throw ioError(error, dir)
  }
}
