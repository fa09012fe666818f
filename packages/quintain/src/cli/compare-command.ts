import { relative, resolve } from 'node:path'
import { QuintainError, readPanel } from '../core/index.ts'
import {
  type Comparison,
  compareRuns,
  costSuccess,
  costSuccessSvg,
  costSuccessText,
  decidedText,
  formatComparison,
  formatComparisonMarkdown,
  pictureKind,
  styleFor,
  writeOutput,
} from '../report/index.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { findRun, findRuns } from './run-path.ts'

export interface CompareCommandOptions {
  force?: boolean
  json?: boolean
  markdown?: boolean
  allPairs?: boolean
  minCoverage?: number
  failOnRegression?: boolean
  alpha?: number
  margin?: number
  svg?: string
}

/** Compares runs task by task. With `--fail-on-regression` it is a gate. */
export async function compareCommand(
  named: readonly string[],
  options: CompareCommandOptions,
  io: CliIo,
): Promise<ExitCode> {
  const { json, markdown, alpha, margin, failOnRegression = false } = options
  if (json && markdown) throw new QuintainError('usage', 'Give --json or --markdown, not both.')
  if (!failOnRegression && (alpha !== undefined || margin !== undefined)) {
    throw new QuintainError(
      'usage',
      '--alpha and --margin say how --fail-on-regression decides; give it too.',
    )
  }
  if (margin !== undefined && margin < 0)
    throw new QuintainError('usage', '--margin is a loss: a number from 0.')
  const dirs = (await Promise.all(named.map((run) => findRuns(run, io.cwd)))).flat()
  const found = await compareRuns(dirs, {
    force: options.force === true,
    pairs: options.allPairs === true ? 'all' : 'first',
    ...(options.minCoverage === undefined ? {} : { minCoverage: options.minCoverage }),
    ...(failOnRegression
      ? {
          regression: {
            ...(alpha === undefined ? {} : { alpha }),
            ...(margin === undefined ? {} : { margin }),
          },
        }
      : {}),
  })
  if (failOnRegression && found.pairs.some(({ same }) => same)) {
    throw new QuintainError('usage', 'A run is held against itself, in which no regression can be found.')
  }
  const runs = found.runs.map((run) => ({ ...run, dir: relative(io.cwd, run.dir) || '.' }))
  const comparison: Comparison = { ...found, runs }
  // Before anything is printed: what cannot be written is no comparison that went well.
  if (options.svg !== undefined) {
    const picture = costSuccessSvg(costSuccess(comparison))
    await writeOutput(resolve(io.cwd, options.svg), picture, {
      kind: pictureKind,
      force: options.force === true,
    })
  }
  const style = styleFor(io.stdout, io.env)
  if (json) io.stdout.write(`${JSON.stringify(comparison, null, 2)}\n`)
  else if (markdown) io.stdout.write(formatComparisonMarkdown(comparison))
  else {
    io.stdout.write(formatComparison(comparison, { style }))
    const picture = costSuccess(comparison)
    // Runs that cost nothing have nothing to be drawn.
    if (picture.points.some(({ cost }) => cost !== 0)) io.stdout.write(`\n${costSuccessText(picture)}`)
  }
  const decided = named.length === 1 ? (await readPanel(findRun(named[0]!, io.cwd)))?.decided : undefined
  if (decided !== undefined && !runs.every(({ complete }) => complete)) {
    const sink = json ? io.stderr : io.stdout
    sink.write(`\n${markdown || json ? '' : '  '}${decidedText(decided)}\n`)
  }
  return exitCodeOfComparison(comparison)
}

/** Exit code of a comparison in which a regression was looked for: one that was found goes before one that cannot be told. */
export function exitCodeOfComparison({ pairs }: Pick<Comparison, 'pairs'>): ExitCode {
  const found = pairs.flatMap(({ regression }) => (regression === undefined ? [] : [regression.regressed]))
  if (found.includes(true)) return exitCodes.belowThreshold
  return found.includes(null) ? exitCodes.incomplete : exitCodes.done
}
