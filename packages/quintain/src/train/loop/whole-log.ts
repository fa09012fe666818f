import { join } from 'node:path'
import { QuintainError } from '../../core/index.ts'
import type { StepRecord } from '../records.ts'
import { historyOf, type TrainingFold, trainingFiles } from '../training-folder.ts'
import { newestCheckpoint, stepOfPath } from './checkpoints.ts'

/**
 * The steps of a log from which a training can be taken up: all of them, from the first. Throws `run_corrupt` where one is
 * missing, a checkpoint is of a later one, or a line in its midst is no record, since what was learned then is not known. A torn
 * last line is none.
 */
export async function wholeLog({ dir, lines, issues }: TrainingFold): Promise<StepRecord[]> {
  const bad = issues.find(({ what }) => what === 'bad_line')
  if (bad !== undefined) throw await lacking(dir, bad.detail)
  const steps = historyOf(lines).filter((line): line is StepRecord => line.kind === 'step')
  const gap = steps.findIndex(({ step }, at) => step !== at + 1)
  if (gap >= 0) throw await lacking(dir, `step ${steps[gap]!.step} stands where step ${gap + 1} should`)
  const newest = await newestCheckpoint(dir)
  if (newest !== undefined && (stepOfPath(newest) ?? 0) > steps.length)
    throw await lacking(dir, `it ends after step ${steps.length}, and ${newest} is of a later one`)
  return steps
}

/** A log without what the rest of the folder shows was in it: `run_corrupt`, with what can still be done. */
export async function lacking(dir: string, what: string): Promise<QuintainError> {
  const path = join(dir, trainingFiles.steps)
  const newest = await newestCheckpoint(dir)
  const begin =
    newest === undefined ? 'begin a new training' : `begin a new training with --from ${join(dir, newest)}`
  return new QuintainError(
    'run_corrupt',
    `${path} is not whole: ${what}. What was learned there is not known, so the training cannot be taken up. Nothing was changed: put the file back from a copy, or ${begin}.`,
    { facts: { path } },
  )
}
