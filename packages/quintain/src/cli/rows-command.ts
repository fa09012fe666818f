import { relative, resolve } from 'node:path'
import { QuintainError, readManifest, solutionsNote } from '../core/index.ts'
import {
  columnsOf,
  exportRows,
  type RowForm,
  rowFilter,
  rowSchemas,
  type TinkerLoss,
  tokenColumns,
} from '../doors/rows-out/index.ts'
import { printableLine, styleFor } from '../report/index.ts'
import { type RunRowsReport, rowLine, rowSchema, runRows, servedNote } from '../rows/index.ts'
import type { CliIo } from './io.ts'
import { RowsFile } from './rows-file.ts'
import { formatOfRows, type RowsFileFormat } from './rows-format.ts'
import { formatExport, formatRows } from './rows-text.ts'
import { findOneRun } from './run-path.ts'

export interface RowsCommandOptions {
  json?: boolean
  out?: string
  force?: boolean
  /** `tokens` when absent. */
  as?: RowForm
  /** By the name of the file when absent. */
  format?: RowsFileFormat
  textOnly?: boolean
  seat?: string
  maxLength?: number
  minReward?: number
  dropTruncated?: boolean
  filter?: string
  threshold?: number
  maxPerTask?: number
  bestOfN?: number
  margin?: number
  loss?: TinkerLoss
}

/** Says how exactly the calls of runs were recorded, and writes rows of them where it is told a file. */
export async function rowsCommand(
  runs: readonly string[],
  options: RowsCommandOptions,
  io: CliIo,
): Promise<void> {
  if (options.force && options.out === undefined)
    throw new QuintainError('usage', '--force is of --out FILE, which was not given.')
  if (options.format !== undefined && options.out === undefined)
    throw new QuintainError('usage', '--format is of --out FILE, which was not given.')
  const dirs: string[] = []
  for (const run of runs) dirs.push(await findOneRun(run, io.cwd))
  const { as: form = 'tokens' } = options
  if (form === 'tokens') await tokenRows(dirs, options, io)
  else await trainerRows(dirs, { ...options, as: form }, io)
  const manifests = await Promise.all(dirs.map(readManifest))
  const notes = [
    manifests.map(({ seats }) => solutionsNote(seats)).find((note) => note !== undefined),
    manifests.map((manifest) => servedNote(manifest, options.seat)).find((note) => note !== undefined),
  ]
  for (const note of notes) if (note !== undefined) io.stderr.write(`${note}\n`)
  if (options.out !== undefined) {
    const what = form === 'art' ? 'group' : 'row'
    const how =
      formatOfRows(options.out, options.format) === 'jsonl' ? `a ${what} on each line` : `${what}s as Parquet`
    io.stderr.write(`${printableLine(options.out)}: ${how}.\n`)
  }
}

const ofTrainers = ['filter', 'threshold', 'maxPerTask', 'bestOfN', 'margin', 'loss'] as const

/** Rows of Quintain's own: every run is told by itself, and their rows go into one file. */
async function tokenRows(dirs: readonly string[], options: RowsCommandOptions, io: CliIo): Promise<void> {
  const { json, out, force = false, textOnly, maxLength, format, as: _, ...rest } = options
  const foreign = ofTrainers.find((name) => rest[name] !== undefined)
  if (foreign !== undefined) {
    const flag = foreign.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new QuintainError(
      'usage',
      `--${flag} goes with --as sft, preference, tinker, art or trl; rows of tokens are chosen by --min-reward.`,
    )
  }
  if (textOnly && maxLength !== undefined)
    throw new QuintainError('usage', '--max-length counts tokens, and rows of --text-only have none.')
  const { seat, minReward, dropTruncated } = rest
  const rows = {
    ...(seat === undefined ? {} : { seat }),
    ...(minReward === undefined ? {} : { minReward }),
    ...(dropTruncated === undefined ? {} : { dropTruncated }),
    ...(textOnly === undefined ? {} : { textOnly }),
    ...(maxLength === undefined ? {} : { maxLength }),
  }
  const reports: RunRowsReport[] = []
  if (out === undefined) for (const dir of dirs) reports.push(await runRows(dir, rows))
  else {
    const parquet = formatOfRows(out, format) === 'parquet'
    const file = await RowsFile.open(resolve(io.cwd, out), force, {
      mark: JSON.stringify(rowSchema).slice(0, -1),
      ...(parquet ? { parquet: tokenColumns } : {}),
    })
    await file.fill(async (onRow) => {
      for (const dir of dirs) {
        const report = await runRows(dir, {
          ...rows,
          onRow: (row) => onRow(rowLine(row), { ...rowSchema, ...row }),
        })
        reports.push(report)
      }
    })
  }
  for (const report of reports) report.run.dir = relative(io.cwd, report.run.dir) || '.'
  if (json) io.stdout.write(`${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`)
  else
    for (const report of reports) io.stdout.write(formatRows(report, { style: styleFor(io.stdout, io.env) }))
}

/** Rows as a trainer reads them, of all runs together. */
async function trainerRows(
  dirs: readonly string[],
  options: RowsCommandOptions & { as: Exclude<RowForm, 'tokens'> },
  io: CliIo,
): Promise<void> {
  const {
    as: form,
    json,
    out,
    force = false,
    format,
    textOnly,
    filter,
    threshold,
    minReward,
    ...rest
  } = options
  if (textOnly)
    throw new QuintainError('usage', '--text-only is of rows of tokens; --as sft is text already.')
  if (threshold !== undefined && minReward !== undefined)
    throw new QuintainError('usage', '--threshold and --min-reward say the same; give one of them.')
  const asked = { ...rest, form, filter: rowFilter(filter, threshold ?? minReward) }
  let report: Awaited<ReturnType<typeof exportRows>>
  if (out === undefined) report = await exportRows(dirs, asked)
  else {
    const schema = rowSchemas[form]
    const parquet = formatOfRows(out, format) === 'parquet'
    const file = await RowsFile.open(resolve(io.cwd, out), force, {
      mark: `{"lineage":{"schema":"${schema}"`,
      ...(parquet ? { parquet: columnsOf[form], metadata: { schema } } : {}),
    })
    report = await file.fill((onRow) =>
      exportRows(dirs, { ...asked, onRow: (row) => onRow(JSON.stringify(row), row) }),
    )
  }
  for (const run of report.runs) run.dir = relative(io.cwd, run.dir) || '.'
  if (json) io.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  else io.stdout.write(formatExport(report, { style: styleFor(io.stdout, io.env) }))
}
