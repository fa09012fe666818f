/** One figure of a bench. */
export interface Measurement {
  what: string
  value: number
  unit: string
  /** What the figure should be; figures without an aim are there to explain the others. */
  aim?: { atLeast: number } | { below: number }
  /** The single runs whose median `value` is. */
  runs?: readonly number[]
}

/** A thing to measure; its module is run in a process of its own. */
export interface Bench {
  title: string
  /** What exactly is timed, and against what. */
  about: string
  run(progress: (text: string) => void): Promise<BenchResult>
}

export interface BenchResult {
  measurements: Measurement[]
  /** Facts that a reader of the figures needs. */
  notes?: string[]
  /** Why nothing was measured. */
  skipped?: string
}

/** Middle value; of an even number of values the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN
}

/** A figure that was measured several times. */
export function medianOf(
  what: string,
  unit: string,
  runs: readonly number[],
  aim?: Measurement['aim'],
): Measurement {
  return { what, unit, value: median(runs), runs, ...(aim === undefined ? {} : { aim }) }
}

/** Whether a figure is what it should be; undefined when nothing was asked of it. */
export function meets({ value, aim }: Measurement): boolean | undefined {
  if (aim === undefined) return undefined
  return 'atLeast' in aim ? value >= aim.atLeast : value < aim.below
}

/** A figure as people read it: three significant digits, whole numbers from 100 on. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)))
}
