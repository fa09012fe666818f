import { join, relative, resolve } from 'node:path'
import { messageOf, QuintainError } from '../core/index.ts'
import { plural, printableLine, styleFor } from '../report/index.ts'
import { keepPage, keptPage } from '../train/html/kept-page.ts'
import { checkTrainingPage, writeTrainingPage } from '../train/html/write-training-page.ts'
import type { Parted, TrainingEnd } from '../train/loop/index.ts'
import { type TrainingBudget, trainingProgressText } from '../train/progress.ts'
import type { EvaluationRecord, StepLine, StepRecord } from '../train/records.ts'
import { summarizeTraining, type TrainingSummary } from '../train/training-summary.ts'
import { formatTraining } from '../train/training-text.ts'
import { type ExitCode, exitCodeOfError, exitCodes } from './exit-codes.ts'
import { listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { guardProcess } from './process-guard.ts'
import { createDisplay } from './progress.ts'
import { quoted, resumeCommandText, type TypedAgain } from './resume-hint.ts'

/** Options that `train` and `resume` of a training share. */
export interface TrainingSessionOptions extends TypedAgain {
  /** A file, or `true` for `training.html` in the folder. */
  html?: string | true
  force?: boolean
  json?: boolean
  quiet?: boolean
}

/** What the session tells the loop. */
export interface TrainingControl {
  signal: AbortSignal
  onBegin: (parted: Parted) => void
  onNote: (text: string) => void
  onStep: (step: StepRecord) => void
  onEvaluation: (evaluation: EvaluationRecord) => void
}

export interface TrainingSession {
  dir: string
  /** How the environment is typed, with its options. */
  typed: string
  budget: TrainingBudget
  /** What is told once nothing stands in the way of the first rollout. */
  notes?(parted: Parted): string[]
  /** What was written down before this sitting. */
  history: readonly StepLine[]
  run(control: TrainingControl): Promise<TrainingEnd>
}

/** Milliseconds between two writings of the page while a training goes on. */
const pageEveryMs = 10_000

/**
 * Trains with live progress, alarms, the page and Ctrl-C, then prints what it came to, and on stderr where things lie and
 * what to type next. Gives the exit code.
 */
export async function trainingSession(
  session: TrainingSession,
  options: TrainingSessionOptions,
  io: CliIo,
): Promise<ExitCode> {
  const shown = relative(io.cwd, session.dir) || '.'
  const asked = pageFile(session.dir, options, io)
  if (asked !== undefined) await checkTrainingPage(asked, options.force === true)
  const page = asked ?? (await ownPage(session.dir, io))
  const end = await drive(session, { ...options, page, shown }, io)
  const found = await summarizeTraining(session.dir)
  const summary: TrainingSummary = { ...found.summary, dir: shown }
  if (page !== undefined) await writePage(session.dir, page, shown)
  if (options.json) io.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else io.stdout.write(formatTraining(summary, { style: styleFor(io.stdout, io.env) }))
  if (options.quiet !== true) tellTheRest(summary, { ...options, page, typed: session.typed }, io)
  return exitCodeOfTraining(end)
}

/** 0 for a training that did what it was to do, its budget counted; see the table of exit codes. */
export function exitCodeOfTraining({ reason, error }: Pick<TrainingEnd, 'reason' | 'error'>): ExitCode {
  if (reason === 'done' || reason === 'budget' || reason === 'plateau') return exitCodes.done
  if (reason === 'collapse' || reason === 'all_dead') return exitCodes.belowThreshold
  if (reason === 'cancelled' || reason === 'all_unscored') return exitCodes.incomplete
  return QuintainError.isInstance(error) ? exitCodeOfError(error.code) : exitCodes.other
}

function pageFile(dir: string, { html }: TrainingSessionOptions, io: CliIo): string | undefined {
  if (html === undefined) return undefined
  return html === true ? join(dir, 'training.html') : resolve(io.cwd, html)
}

/** The page that a training has from an earlier sitting, where it may still be written. */
async function ownPage(dir: string, io: CliIo): Promise<string | undefined> {
  const page = await keptPage(dir)
  if (page === undefined) return undefined
  try {
    await checkTrainingPage(page, false)
    return page
  } catch (error) {
    io.stderr.write(`Its page is not kept up: ${printableLine(messageOf(error), 300)}\n`)
    return undefined
  }
}

interface Driven extends TrainingSessionOptions {
  page: string | undefined
  /** The folder as a person here would type it. */
  shown: string
}

async function drive(
  { dir, budget, history, notes, run }: TrainingSession,
  options: Driven,
  io: CliIo,
): Promise<TrainingEnd> {
  const lines: StepLine[] = [...history]
  const display = createDisplay(
    io.stderr,
    (state: { lines: readonly StepLine[] }) => trainingProgressText(state.lines, budget),
    { quiet: options.quiet === true, last: false },
  )
  const resume = resumeCommandText(options.shown, options)
  const interrupts = listenForInterrupts(
    io,
    (text) => display.say(text),
    `Stopping: what was finished is on disk. Go on with: ${resume}`,
  )
  const unguard = guardProcess(io, { resume, say: (text) => display.say(text) })
  let writing: Promise<void> | undefined
  let written = Number.NEGATIVE_INFINITY
  const { page } = options
  const see = (line: StepLine) => {
    lines.push(line)
    display.update({ lines })
    if (page === undefined || writing !== undefined || performance.now() - written < pageEveryMs) return
    written = performance.now()
    // A page that cannot be written now is told of at the end; training goes on.
    writing = writePage(dir, page, options.shown)
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
  }
  let keeping: Promise<void> | undefined
  try {
    return await run({
      signal: interrupts.signal,
      onBegin(parted) {
        // A page that cannot be kept is written by this sitting all the same.
        if (page !== undefined) keeping = keepPage(dir, page).catch(() => {})
        if (options.quiet !== true) for (const note of notes?.(parted) ?? []) display.say(note)
        display.update({ lines })
      },
      onNote: (text) => display.say(printableLine(text, 1_000)),
      onStep(step) {
        see(step)
        if (options.quiet === true) return
        for (const { watch, says } of step.alarms)
          display.say(`Alarm ${watch} at step ${step.step}: ${printableLine(says, 600)}`)
      },
      onEvaluation: see,
    })
  } finally {
    await keeping
    await writing
    display.end()
    interrupts.stop()
    unguard()
  }
}

/** The page of a training that is ours already: whether it may be there was asked before. */
async function writePage(dir: string, file: string, run: string): Promise<void> {
  await writeTrainingPage(dir, file, { run, force: true })
}

function tellTheRest(
  { dir, end, training, steps, planned, pairs, verdict }: TrainingSummary,
  { page, typed, ...options }: TrainingSessionOptions & { page: string | undefined; typed: string },
  io: CliIo,
): void {
  const shown = printableLine(dir)
  const say = (text: string) => io.stderr.write(`${text}\n`)
  say('')
  say(`Training: ${shown} (an ordinary run: report, show, compare and rows work on it)`)
  if (page !== undefined) say(`Page: ${printableLine(relative(io.cwd, page))}`)
  if (end?.best != null) say(`Best checkpoint, by validation: ${shown}/${printableLine(end.best)}`)
  // Of a policy that can read nothing there is nothing to go on with, and nothing to measure.
  if ((end?.reason === 'all_unscored' || end?.reason === 'all_dead') && steps === 0) return
  if (end === null || (goesOn(end.reason) && steps < planned))
    say(`Go on with it: ${resumeCommandText(dir, options)}`)
  const { test, train, parts = [] } = training.splits
  const isPart = parts.includes('test')
  const split = test === null || isPart ? '' : ` --split ${printableLine(test)}`
  const trainedOn = isPart ? ` (most tasks of split ${printableLine(train)} were trained on)` : ''
  say(`Measure it like any model${trainedOn}: npx quintain eval ${typed}${split} -m checkpoint:${shown}`)
  const [pair] = pairs
  if (pair !== undefined && pair.difference !== null)
    say(
      `See which tasks changed${verdict === 'unchanged' ? ' at the last step' : ''} (${plural(pair.difference.pairs, 'task')}): npx quintain compare ${shown}/${printableLine(pair.before.run)} ${shown}/${printableLine(pair.after.run)}`,
    )
}

/** Whether a training that ended for this reason may go on as it is: others would end the same way again. */
function goesOn(reason: TrainingEnd['reason']): boolean {
  return !['done', 'all_dead', 'not_finite', 'collapse'].includes(reason)
}

/** An environment as it is typed: itself, and its options. */
export function typedEnvironment(env: string, options: readonly string[]): string {
  return [env, ...options.flatMap((option) => ['--option', option])]
    .map((word) => quoted(printableLine(word)))
    .join(' ')
}
