import { pageHead } from '../../report/html/page-head.ts'
import { printableLine } from '../../report/index.ts'
import { checkTarget, type OutputKind, outputError, writeOutput } from '../../report/output-file.ts'
import { summarizeTraining, type TrainingSummary } from '../training-summary.ts'
import { trainingBody } from './training-page.ts'
import { trainingStyle } from './training-style.ts'

/** The beginning of every such page: a file that begins so may be overwritten. */
const kind: OutputKind = {
  name: 'page of a training',
  mark: '<!doctype html>\n<!-- quintain training 1 -->\n',
}

/** Seconds after which a page of a training that goes on is read again. */
const refreshS = 10

/** Throws what `writeTrainingPage` would throw for a file that it may not write, before there is anything to write. */
export async function checkTrainingPage(file: string, force: boolean): Promise<void> {
  await checkTarget(file, kind, force).catch((error: unknown) => {
    throw outputError(error, file, kind)
  })
}

export interface TrainingPageOptions {
  /** The training as people type it; what the page names it by. Default: `dir`. */
  run?: string
  /** Overwrite a file that is no such page. */
  force?: boolean
}

/**
 * Writes what a training wrote down of itself as one HTML file with its curves, that loads nothing and runs no script. While
 * the training goes on, a browser reads the file again every ten seconds. The same records give the same bytes.
 *
 * The file appears whole or not at all. Throws `output_exists`, `output_io` and `disk_full` for the file, and what
 * `summarizeTraining` throws.
 *
 * @example await writeTrainingPage('runs/x', 'x.html')
 */
export async function writeTrainingPage(
  dir: string,
  file: string,
  { run = dir, force = false }: TrainingPageOptions = {},
): Promise<{ file: string; bytes: number; summary: TrainingSummary }> {
  const found = await summarizeTraining(dir)
  const summary = { ...found.summary, dir: run }
  const { name, version } = summary.environment
  const head = pageHead({
    mark: kind.mark,
    title: `${printableLine(`${name} ${version}`, 120)} · Quintain training`,
    style: trainingStyle,
    ...(summary.end === null ? { refreshS } : {}),
  })
  const text = `${head}${trainingBody(summary, found.history).text}</body></html>\n`
  await writeOutput(file, text, { kind, force })
  return { file, bytes: Buffer.byteLength(text), summary }
}
