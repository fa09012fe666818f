import { relative } from 'node:path'
import type { RunControl, RunEnd } from '../engine/index.ts'
import { formatText, printableLine, type RunSummary, styleFor, summarize } from '../report/index.ts'
import { type ExitCode, exitCodeOfRun } from './exit-codes.ts'
import { interruptGraceMs, listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { createProgressDisplay } from './progress.ts'

/** Options that `eval` and `resume` share. */
export interface SessionOptions {
  concurrency?: number
  workers?: number
  maxCost?: number
  maxTries?: number
  minCoverage?: number
  threshold?: number
  json?: boolean
  quiet?: boolean
}

/** What the engine is told, from what was typed. */
function controlOf(options: SessionOptions): RunControl {
  const { concurrency, workers, maxCost, maxTries } = options
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(workers === undefined ? {} : { workers }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTries === undefined ? {} : { maxTries }),
  }
}

/**
 * Runs the engine with live progress and Ctrl-C, then prints the report on stdout, and on stderr where the run lies and how
 * to go on with it. Gives the exit code.
 */
export async function runSession(
  run: (control: RunControl) => Promise<RunEnd>,
  options: SessionOptions,
  io: CliIo,
): Promise<ExitCode> {
  const display = createProgressDisplay(io.stderr, { quiet: options.quiet === true })
  const interrupts = listenForInterrupts(io, (text) => display.say(text))
  let end: RunEnd
  try {
    end = await run({
      ...controlOf(options),
      signal: interrupts.signal,
      hardSignal: interrupts.hardSignal,
      graceMs: interruptGraceMs,
      onProgress: (progress) => display.update(progress),
    })
  } finally {
    display.end()
    interrupts.stop()
  }
  const { minCoverage, threshold } = options
  const found = await summarize(end.dir, minCoverage === undefined ? {} : { minCoverage })
  // As a person here would type it.
  const summary = { ...found, run: { ...found.run, dir: relative(io.cwd, end.dir) || '.' } }
  if (options.json) io.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  else io.stdout.write(formatText(summary, { style: styleFor(io.stdout, io.env) }))
  const code = exitCodeOfRun(summary, threshold)
  if (options.quiet !== true) tellTheRest(end, summary, options, io)
  return code
}

function tellTheRest(end: RunEnd, summary: RunSummary, { threshold, json }: SessionOptions, io: CliIo): void {
  const shown = printableLine(summary.run.dir)
  const say = (text: string) => io.stderr.write(`${text}\n`)
  say('')
  if (end.stop !== undefined) say(`Stopped: ${printableLine(end.stop.message)}`)
  say(`Run: ${shown}`)
  if (!summary.complete && json) say(`Go on with: quintain resume ${shown}`)
  const { environment } = summary.run
  const headline = environment.success ? summary.success : summary.reward
  if (threshold !== undefined && summary.complete && headline.value !== null && headline.value < threshold) {
    say(
      `Below the threshold: ${environment.success ? 'success' : 'mean reward'} ${headline.value.toFixed(3)} < ${threshold}`,
    )
  }
  if (summary.status.faulted > 0) say(`Try the faults again: quintain resume ${shown}`)
  say(`Look at one: quintain show ${shown} --worst`)
}
