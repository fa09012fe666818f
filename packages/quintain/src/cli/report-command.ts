import { relative } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { formatMarkdown, formatText, styleFor, summarize } from '../report/index.ts'
import { formatTasks, taskOutcomes } from '../report/task-table.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { findRun } from './run-path.ts'

/** Prints what a run says. With a threshold, or a minimum coverage, it is a gate. */
export async function reportCommand(
  run: string,
  options: { json?: boolean; markdown?: boolean; tasks?: boolean; minCoverage?: number; threshold?: number },
  io: CliIo,
): Promise<ExitCode> {
  const { json, markdown, tasks, minCoverage, threshold } = options
  if (json && markdown) throw new QuintainError('usage', 'Give --json or --markdown, not both.')
  const dir = findRun(run, io.cwd)
  const found = await summarize(dir, minCoverage === undefined ? {} : { minCoverage })
  const summary = { ...found, run: { ...found.run, dir: relative(io.cwd, dir) || '.' } }
  const style = styleFor(io.stdout, io.env)
  const perTask = tasks === true ? await taskOutcomes(dir) : undefined
  if (json) {
    const whole = perTask === undefined ? summary : { ...summary, perTask }
    io.stdout.write(`${JSON.stringify(whole, null, 2)}\n`)
  } else if (markdown) io.stdout.write(formatMarkdown(summary))
  else io.stdout.write(formatText(summary, { style }))
  if (perTask !== undefined && !json) io.stdout.write(`\n${formatTasks(perTask, { style })}`)
  const gate = threshold !== undefined || minCoverage !== undefined
  return gate ? exitCodeOfRun(summary, threshold) : exitCodes.done
}
