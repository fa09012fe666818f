import { relative } from 'node:path'
import { readPanel } from '../core/index.ts'
import type { PanelEnd } from '../engine/index.ts'
import {
  type Comparison,
  compareRuns,
  costSuccess,
  costSuccessText,
  decidedText,
  faultsText,
  floorText,
  formatComparison,
  printableLine,
  type RunSummary,
  type Style,
  styleFor,
} from '../report/index.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { resumeCommandText } from './resume-hint.ts'
import { drive, type NotesOf, type Session, type SessionOptions, summaryHere } from './run-session.ts'

/** What the runs of a panel came to; the JSON form of `eval -m a -m b`. */
interface PanelReport {
  schema: 'quintain.panel-report'
  v: 1
  dir: string
  runs: RunSummary[]
  /** Null for a single run. */
  comparison: Comparison | null
}

/**
 * Runs the engine on several runs with live progress and Ctrl-C, then prints what is wrong with each, how they compare and
 * what they cost. Gives the exit code: the worst of the runs'.
 */
export async function panelSession(
  session: Session<PanelEnd>,
  options: SessionOptions,
  io: CliIo,
  notesOf: NotesOf,
): Promise<ExitCode> {
  const end = await drive(session, options, io, notesOf)
  const runs: RunSummary[] = []
  for (const { dir } of end.runs) runs.push(await summaryHere(dir, options, io))
  const dir = relative(io.cwd, end.dir) || '.'
  const { minCoverage } = options
  const found =
    end.runs.length < 2
      ? null
      : await compareRuns(
          end.runs.map((one) => one.dir),
          { force: true, ...(minCoverage === undefined ? {} : { minCoverage }) },
        )
  const comparison = found && {
    ...found,
    runs: found.runs.map((one, at) => ({ ...one, dir: runs[at]?.run.dir ?? one.dir })),
  }
  const style = styleFor(io.stdout, io.env)
  if (options.json) {
    const report: PanelReport = { schema: 'quintain.panel-report', v: 1, dir, runs, comparison }
    io.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } else {
    if (comparison !== null) {
      io.stdout.write(formatComparison(comparison, { style }))
      const [first] = runs
      if (first?.run.floor !== undefined) {
        // One floor for all of them: it is of the plan that they share.
        const [values, { note }] = floorText(first.run.floor, first.run.environment.success)
        io.stdout.write(`\n  floor  ${values} ${style.dim(`(${note})`)}\n`)
      }
      const picture = costSuccess(comparison)
      // Players that cost nothing have nothing to be drawn.
      if (picture.points.some(({ cost }) => cost !== 0)) io.stdout.write(`\n${costSuccessText(picture)}`)
    }
    const panel = await readPanel(end.dir)
    const trouble = runs.flatMap((summary, at) =>
      troubleLines(summary, comparison?.runs[at]?.letter ?? 'A', style),
    )
    if (trouble.length > 0) io.stdout.write(`\n${trouble.join('\n')}\n`)
    if (panel?.decided !== undefined) io.stdout.write(`\n  ${style.bold(decidedText(panel.decided))}\n`)
  }
  const decided = end.runs.some(({ stop }) => stop?.code === 'decided')
  const stops = new Set(end.runs.flatMap(({ stop }) => (stop === undefined ? [] : [stop.message])))
  for (const stop of stops) io.stderr.write(`Stopped: ${printableLine(stop)}\n`)
  if (options.quiet !== true) tellTheRest(dir, runs, { io, resume: resumeCommandText(dir, options) })
  const codes = runs.map((summary) => exitCodeOfRun(summary, options.threshold))
  // What was left open because enough was known is what was asked for.
  if (decided) return exitCodes.done
  return codes.includes(exitCodes.incomplete)
    ? exitCodes.incomplete
    : (codes.find((code) => code !== exitCodes.done) ?? exitCodes.done)
}

/** What a reader must know of a run before its row in the table is believed. */
function troubleLines(summary: RunSummary, letter: string, style: Style): string[] {
  const lines: string[] = []
  const say = (text: string) => lines.push(style.yellow(`  ${letter}: ${printableLine(text, 300)}`))
  const { status } = summary
  const open = status.pending + status.cancelled
  if (open > 0) say(`${open} of ${summary.orders} orders are not finished`)
  if (summary.faults.length > 0) say(`faults: ${faultsText(summary.faults)}`)
  if (status.unscored > 0) say(`${status.unscored} orders ended without a score`)
  for (const { message } of summary.warnings) say(message)
  return lines
}

function tellTheRest(
  dir: string,
  runs: readonly RunSummary[],
  { io, resume }: { io: CliIo; resume: string },
): void {
  const shown = printableLine(dir)
  const say = (text: string) => io.stderr.write(`${text}\n`)
  say('')
  say(`Runs: ${shown}`)
  const open = runs.some(({ complete, status }) => !complete || status.faulted > 0)
  if (open) say(`Go on with all of them: ${resume}`)
  say(`Compare them again: npx quintain compare ${shown}`)
  say(`Read one of them: npx quintain report ${printableLine(runs[0]?.run.dir ?? dir)}`)
}
