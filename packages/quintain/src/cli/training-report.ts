import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { printableLine, styleFor } from '../report/index.ts'
import { writeTrainingPage } from '../train/html/write-training-page.ts'
import { summarizeTraining } from '../train/training-summary.ts'
import { formatTraining } from '../train/training-text.ts'
import type { CliIo } from './io.ts'
import type { ReportCommandOptions } from './report-command.ts'

/** Says what a training came to, or writes its page. `name` is its folder as a person here would type it. */
export async function trainingReport(
  { dir, name }: { dir: string; name: string },
  { json, html, force, ...options }: ReportCommandOptions,
  io: CliIo,
): Promise<void> {
  const foreign = (['markdown', 'tasks', 'minCoverage', 'threshold', 'htmlMaxMb'] as const).find(
    (option) => options[option] !== undefined,
  )
  if (foreign !== undefined)
    throw new QuintainError('usage', '--training goes with --json, --html and --force alone.')
  const summary =
    html === undefined
      ? { ...(await summarizeTraining(dir)).summary, dir: name }
      : (
          await writeTrainingPage(dir, resolve(io.cwd, html), {
            run: name,
            ...(force === undefined ? {} : { force }),
          })
        ).summary
  if (html !== undefined) io.stderr.write(`${printableLine(html)}\n`)
  if (json) io.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else io.stdout.write(formatTraining(summary, { style: styleFor(io.stdout, io.env) }))
}
