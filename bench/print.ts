import { type Bench, type BenchResult, figure, type Measurement, meets } from './measurement.ts'

/** What a bench found, as lines for people. */
export function reportLines(
  name: string,
  bench: Pick<Bench, 'title' | 'about'>,
  result: BenchResult,
): string[] {
  const lines = [`${name}: ${bench.title}`, ...wrapped(bench.about).map((line) => `  ${line}`)]
  if (result.skipped !== undefined) return [...lines, `  SKIPPED: ${result.skipped}`]
  for (const measurement of result.measurements) {
    const { what, value, unit, aim, runs } = measurement
    const met = meets(measurement)
    const aimText = aim === undefined ? '' : `aim ${aimOf(aim)}${spaced(unit)}: ${met ? 'met' : 'MISSED'}`
    const runsText = runs === undefined ? '' : `(${runs.map(figure).join(', ')})`
    lines.push(
      `  ${`${figure(value)}${spaced(unit)}`.padStart(12)}  ${[what, runsText, aimText].filter((text) => text !== '').join('  ')}`,
    )
  }
  for (const note of result.notes ?? []) lines.push(...wrapped(note).map((line) => `  ${line}`))
  return lines
}

function aimOf(aim: NonNullable<Measurement['aim']>): string {
  return 'atLeast' in aim ? `at least ${figure(aim.atLeast)}` : `below ${figure(aim.below)}`
}

function spaced(unit: string): string {
  return unit === '' || unit.startsWith('/') ? unit : ` ${unit}`
}

function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last.length + word.length > 100) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
