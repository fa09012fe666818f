/** Starts the run that its argument describes, or takes it up where it stands; the main process of a run that is to be killed. */
import { QuintainError, readManifest } from '../../core/index.ts'
import { resumeRun, startRun } from '../run.ts'
import type { RunOptions } from '../run-options.ts'

const options = JSON.parse(process.argv[2]!) as RunOptions & { dir: string }
const begun = await readManifest(options.dir).then(
  () => true,
  (error: unknown) => {
    if (QuintainError.isInstance(error) && (error.code === 'run_not_found' || error.code === 'run_corrupt')) {
      return false
    }
    throw error
  },
)
const { dir, concurrency, workers } = options
const end = await (begun
  ? resumeRun({
      dir,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(workers === undefined ? {} : { workers }),
    })
  : startRun(options))
process.exit(end.stop === undefined ? 0 : 3)
