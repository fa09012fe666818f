import { relative, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import {
  formatMarkdown,
  formatText,
  headlineText,
  printableLine,
  type RunSummary,
  styleFor,
  summarize,
  writeHtmlReport,
} from '../report/index.ts'
import { formatTasks, taskOutcomes } from '../report/task-table.ts'
import { isTraining } from '../train/training-folder.ts'
import { checkpointReport, isCheckpoint } from './checkpoint-report.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { findOneRun } from './run-path.ts'

export interface ReportCommandOptions {
  json?: boolean
  markdown?: boolean
  tasks?: boolean
  html?: string
  htmlMaxMb?: number
  force?: boolean
  minCoverage?: number
  threshold?: number
  training?: boolean
}

/** Prints what a run says, or writes it as a page. With a threshold, or a minimum coverage, it is a gate. */
export async function reportCommand(
  run: string,
  options: ReportCommandOptions,
  io: CliIo,
): Promise<ExitCode> {
  const { json, markdown, tasks, html, minCoverage, threshold } = options
  if (json && markdown) throw new QuintainError('usage', 'Give --json or --markdown, not both.')
  if (html === undefined && (options.htmlMaxMb !== undefined || options.force)) {
    throw new QuintainError('usage', '--html-max-mb and --force are of --html FILE, which was not given.')
  }
  const dir = await findOneRun(run, io.cwd)
  const name = relative(io.cwd, dir) || '.'
  const isTrained = await isTraining(dir)
  if (!isTrained && (await isCheckpoint(dir))) {
    await checkpointReport({ dir, name }, options, io)
    return exitCodes.done
  }
  if (options.training) {
    const { trainingReport } = await import('./training-report.ts')
    await trainingReport({ dir, name }, options, io)
    return exitCodes.done
  }
  const summary =
    html === undefined
      ? await summaryOf(dir, name, minCoverage)
      : await writePage(dir, name, html, options, io)
  const style = styleFor(io.stdout, io.env)
  if (isTrained) {
    const sink = json || markdown ? io.stderr : io.stdout
    const shown = printableLine(name)
    sink.write(
      `${shown} is a training: these are its rollouts, by weights that changed from step to step, taken together; what came of it: npx quintain report ${shown} --training\n\n`,
    )
  }
  const perTask = tasks === true ? await taskOutcomes(dir) : undefined
  if (json) {
    const whole = perTask === undefined ? summary : { ...summary, perTask }
    io.stdout.write(`${JSON.stringify(whole, null, 2)}\n`)
  } else if (markdown) io.stdout.write(formatMarkdown(summary))
  else if (html === undefined) io.stdout.write(formatText(summary, { style }))
  if (perTask !== undefined && !json) io.stdout.write(`\n${formatTasks(perTask, { style })}`)
  const gate = threshold !== undefined || minCoverage !== undefined
  return gate ? exitCodeOfRun(summary, threshold) : exitCodes.done
}

async function summaryOf(dir: string, name: string, minCoverage: number | undefined): Promise<RunSummary> {
  const found = await summarize(dir, minCoverage === undefined ? {} : { minCoverage })
  return { ...found, run: { ...found.run, dir: name } }
}

/** Writes the page and says where it is; beside JSON or Markdown, which own the output, it is said to people only. */
async function writePage(
  dir: string,
  name: string,
  file: string,
  { json, markdown, htmlMaxMb, force, minCoverage }: ReportCommandOptions,
  io: CliIo,
): Promise<RunSummary> {
  const { bytes, said, summary } = await writeHtmlReport(dir, resolve(io.cwd, file), {
    run: name,
    ...(minCoverage === undefined ? {} : { minCoverage }),
    ...(htmlMaxMb === undefined ? {} : { maxMb: htmlMaxMb }),
    ...(force === undefined ? {} : { force }),
  })
  const text = `${headlineText(summary)}\n${printableLine(file)}: ${sizeText(bytes)}. ${said}\n`
  const out = json || markdown ? io.stderr : io.stdout
  out.write(text)
  return summary
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
