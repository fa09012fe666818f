import { relative } from 'node:path'
import type { Progress, RunControl, RunEnd } from '../engine/index.ts'
import { formatText, printableLine, type RunSummary, styleFor, summarize } from '../report/index.ts'
import { type ExitCode, exitCodeOfRun } from './exit-codes.ts'
import { interruptGraceMs, listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { guardProcess } from './process-guard.ts'
import { createProgressDisplay } from './progress.ts'
import { resumeCommandText, type TypedAgain } from './resume-hint.ts'

/** Options that `eval` and `resume` share. */
export interface SessionOptions extends TypedAgain {
  concurrency?: number
  workers?: number
  /** Boxes open at a time, and what they run in. */
  boxes?: number
  sandbox?: string
  maxCost?: number
  maxTries?: number
  minCoverage?: number
  threshold?: number
  json?: boolean
  quiet?: boolean
}

/** What a command asks the engine for, and where. */
export interface Session<End> {
  /** The folder of the run, or of the runs. */
  dir: string
  run(control: RunControl): Promise<End>
}

/** Asked once the plan is made for what is to be said of it; when `quiet`, only for what was asked for. */
export type NotesOf = (planned: { orders: number; quiet: boolean }) => Promise<string[]>

/** What the engine is told, from what was typed. */
function controlOf(options: SessionOptions): RunControl {
  const { concurrency, workers, boxes, maxCost, maxTries } = options
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(workers === undefined ? {} : { workers }),
    ...(boxes === undefined ? {} : { boxes }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTries === undefined ? {} : { maxTries }),
  }
}

/** Runs the engine with live progress and Ctrl-C. */
export async function drive<End>(
  { dir, run }: Session<End>,
  options: SessionOptions,
  io: CliIo,
  notesOf: NotesOf,
): Promise<End> {
  const display = createProgressDisplay(io.stderr, { quiet: options.quiet === true })
  const interrupts = listenForInterrupts(io, (text) => display.say(text))
  const unguard = guardProcess(io, {
    resume: resumeCommandText(relative(io.cwd, dir) || '.', options),
    say: (text) => display.say(text),
  })
  let told: Promise<void> | undefined
  const tellNotes = async (orders: number) => {
    // Read from the run's own files while it runs; notes are no reason to fail.
    const notes = await notesOf({ orders, quiet: options.quiet === true }).catch(() => [])
    for (const note of notes) display.say(note)
  }
  try {
    return await run({
      ...controlOf(options),
      signal: interrupts.signal,
      hardSignal: interrupts.hardSignal,
      graceMs: interruptGraceMs,
      onProgress(progress: Progress) {
        told ??= tellNotes(progress.orders)
        display.update(progress)
      },
    })
  } finally {
    await told
    display.end()
    interrupts.stop()
    unguard()
  }
}

/** What a run says, with its folder as a person here would type it. */
export async function summaryHere(
  dir: string,
  { minCoverage }: SessionOptions,
  io: CliIo,
): Promise<RunSummary> {
  const found = await summarize(dir, minCoverage === undefined ? {} : { minCoverage })
  return { ...found, run: { ...found.run, dir: relative(io.cwd, dir) || '.' } }
}

/**
 * Runs the engine with live progress and Ctrl-C, then prints the report on stdout, and on stderr where the run lies and how
 * to go on with it. Gives the exit code.
 */
export async function runSession(
  session: Session<RunEnd>,
  options: SessionOptions,
  io: CliIo,
  notesOf: NotesOf = async () => [],
): Promise<ExitCode> {
  const end = await drive(session, options, io, notesOf)
  const summary = await summaryHere(end.dir, options, io)
  const resume = resumeCommandText(summary.run.dir, options)
  if (options.json) io.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else {
    const stopped = end.stop === undefined ? {} : { stopped: end.stop.message }
    io.stdout.write(formatText(summary, { style: styleFor(io.stdout, io.env), resume, ...stopped }))
  }
  const code = exitCodeOfRun(summary, options.threshold)
  // The JSON is what the run's files say; why this sitting ended is not in them.
  if (options.json && end.stop !== undefined) {
    io.stderr.write(`Stopped: ${printableLine(end.stop.message)}\n`)
  }
  if (options.quiet !== true) tellTheRest(summary, { ...options, resume }, io)
  return code
}

function tellTheRest(
  summary: RunSummary,
  { threshold, json, resume }: SessionOptions & { resume: string },
  io: CliIo,
): void {
  const shown = printableLine(summary.run.dir)
  const say = (text: string) => io.stderr.write(`${text}\n`)
  say('')
  say(`Run: ${shown}`)
  if (!summary.complete && json) say(`Go on with: ${resume}`)
  const { environment } = summary.run
  const headline = environment.success ? summary.success : summary.reward
  if (threshold !== undefined && summary.complete && headline.value !== null && headline.value < threshold) {
    say(
      `Below the threshold: ${environment.success ? 'success' : 'mean reward'} ${headline.value.toFixed(3)} < ${threshold}`,
    )
  }
  if (summary.status.faulted > 0) say(`Try the faults again: ${resume}`)
  if (summary.orders > 0) say(`Look at one: npx quintain show ${shown} --worst`)
}
