import type { Progress } from '../engine/index.ts'
import { countText, dollarText, durationText, scoreText } from '../report/index.ts'
import type { Sink } from './io.ts'

/** Milliseconds between two updates: of a line that is rewritten, and of lines that stay. */
const redraw = 100
const reprint = 5_000

function counts(record: Readonly<Record<string, number>>): string {
  return Object.entries(record)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${countText(count)}`)
    .join(', ')
}

/** A run's state on one line: how far, how fast, how long yet, whose faults, how much money. */
export function progressText(progress: Progress): string {
  const parts = [`${countText(progress.done)}/${countText(progress.orders)}`]
  if (progress.perSecond > 0)
    parts.push(`${progress.perSecond < 10 ? progress.perSecond.toFixed(1) : countText(progress.perSecond)}/s`)
  if (progress.etaMs !== null && progress.done < progress.orders)
    parts.push(`${durationText(progress.etaMs)} left`)
  // What is done may still be closing its world.
  if (progress.running > 0 && progress.done < progress.orders)
    parts.push(`${countText(progress.running)} running`)
  if (progress.scored > 0) {
    parts.push(`success ${scoreText(progress.successes / progress.scored, 2)}`)
    if (progress.meanReward !== null) parts.push(`reward ${scoreText(progress.meanReward, 2)}`)
  }
  if (progress.unscored > 0) parts.push(`unscored ${countText(progress.unscored)}`)
  const faults = counts(progress.faults)
  if (faults !== '')
    parts.push(
      `faults: ${faults}${progress.retried > 0 ? ` (${countText(progress.retried)} tried again)` : ''}`,
    )
  if (progress.costUsd === null) parts.push('cost unknown')
  else if (progress.costUsd > 0) parts.push(dollarText(progress.costUsd))
  return parts.join('  ')
}

export interface ProgressDisplay<State = Progress> {
  update(progress: State): void
  /** A line of its own, above the live one. */
  say(text: string): void
  /** Takes the live line away, or prints the last state. */
  end(): void
}

interface DisplayOptions {
  quiet?: boolean
  /** False where what comes after says it all: the last state is not printed at the end. */
  last?: boolean
  now?: () => number
}

/** The progress of a run: a live line on a terminal, a line every few seconds elsewhere, nothing when `quiet`. */
export function createProgressDisplay(sink: Sink, options: DisplayOptions = {}): ProgressDisplay {
  return createDisplay(sink, progressText, options)
}

/** The same for a state of any kind, as `textOf` says it. */
export function createDisplay<State extends object>(
  sink: Sink,
  textOf: (state: State) => string,
  { quiet = false, last: printLast = true, now = () => performance.now() }: DisplayOptions = {},
): ProgressDisplay<State> {
  const live = sink.isTTY === true && !quiet
  let last = Number.NEGATIVE_INFINITY
  let latest: State | undefined
  let shown = ''
  let printed: string | undefined
  const clear = () => {
    if (shown !== '') sink.write('\r\u001b[2K')
    shown = ''
  }
  const draw = (progress: State) => {
    const width = Math.max(20, (sink.columns ?? 80) - 1)
    const text = textOf(progress)
    clear()
    shown = text.length > width ? `${text.slice(0, width - 1)}…` : text
    sink.write(shown)
  }
  const print = (progress: State) => {
    const text = textOf(progress)
    if (text === printed) return
    printed = text
    sink.write(`${text}\n`)
  }
  return {
    update(progress) {
      if (quiet) return
      latest = { ...progress }
      const time = now()
      if (last === Number.NEGATIVE_INFINITY && !live) last = time
      if (time - last < (live ? redraw : reprint)) return
      last = time
      if (live) draw(latest)
      else print(latest)
    },
    say(text) {
      clear()
      sink.write(`${text}\n`)
    },
    end() {
      if (live) clear()
      else if (printLast && latest !== undefined && !quiet) print(latest)
    },
  }
}
