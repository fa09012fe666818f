import { relative, resolve } from 'node:path'
import { QuintainError, readManifest, solutionsNote } from '../core/index.ts'
import { printableLine, styleFor } from '../report/index.ts'
import { type RunRowsReport, runRows } from '../rows/index.ts'
import type { CliIo } from './io.ts'
import { RowsFile } from './rows-file.ts'
import { formatRows } from './rows-text.ts'
import { findOneRun } from './run-path.ts'

export interface RowsCommandOptions {
  json?: boolean
  out?: string
  force?: boolean
  textOnly?: boolean
  seat?: string
  maxLength?: number
  minReward?: number
  dropTruncated?: boolean
}

/** Says how exactly the calls of a run were recorded, and writes training rows of them where it is told a file. */
export async function rowsCommand(run: string, options: RowsCommandOptions, io: CliIo): Promise<void> {
  const { json, out, force, ...rows } = options
  if (force && out === undefined)
    throw new QuintainError('usage', '--force is of --out FILE, which was not given.')
  if (rows.textOnly && rows.maxLength !== undefined)
    throw new QuintainError('usage', '--max-length counts tokens, and rows of --text-only have none.')
  const dir = await findOneRun(run, io.cwd)
  let report: RunRowsReport
  if (out === undefined) report = await runRows(dir, rows)
  else {
    const file = await RowsFile.open(resolve(io.cwd, out), force === true)
    report = await file.fill((onRow) => runRows(dir, { ...rows, onRow }))
  }
  report.run.dir = relative(io.cwd, dir) || '.'
  if (json) io.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  else io.stdout.write(formatRows(report, { style: styleFor(io.stdout, io.env) }))
  const { seats } = await readManifest(dir)
  const solutions = solutionsNote(seats)
  if (solutions !== undefined) io.stderr.write(`${solutions}\n`)
  if (out !== undefined) io.stderr.write(`${printableLine(out)}: a row on each line.\n`)
}
