import type { GraderParity } from './compare-scores.ts'
import type { ParityReport } from './replay.ts'

/** A report of a replay for people. */
export function parityText(report: ParityReport, problems: readonly string[] = []): string {
  const lines = [`${report.rows} saved outputs were graded again.`, '']
  for (const grader of report.graders) lines.push(...linesOf(grader), '')
  const strange = Object.entries(report.strange)
  if (strange.length > 0)
    lines.push(
      `Scores of names that no grader here has: ${strange.map(([name, count]) => `${name} (${count})`).join(', ')}`,
      '',
    )
  if (problems.length > 0)
    lines.push(
      `${problems.length} lines were left out:`,
      ...problems.slice(0, 20).map((one) => `  ${one}`),
      '',
    )
  return lines.join('\n')
}

function linesOf({
  name,
  type,
  tolerance,
  rows,
  compared,
  agreeing,
  errors,
  ...grader
}: GraderParity): string[] {
  const share =
    compared === 0
      ? 'nothing could be compared'
      : `${agreeing} of ${compared} agree (${percent(agreeing / compared)})`
  const within = tolerance.within === 0 ? 'exactly' : `within ${tolerance.within}`
  const lines = [`${name} (${type}): ${share}, ${within}: ${tolerance.why}`]
  if (compared > 0) {
    const kappa = grader.kappa === null ? '' : `, kappa of passing ${grader.kappa.toFixed(3)}`
    lines.push(
      `  mean difference ${shown(grader.meanDifference)}, largest ${shown(grader.largestDifference)}${kappa}`,
    )
  }
  const failed = Object.entries(errors)
  if (failed.length > 0)
    lines.push(
      `  ${rows - compared} of ${rows} rows have no score: ${failed.map(([code, count]) => `${code} ${count}`).join(', ')}`,
    )
  for (const { line, expected, given } of grader.disagreeing)
    lines.push(`  line ${line}: ${expected} then, ${given} now`)
  const more = compared - agreeing - grader.disagreeing.length
  if (more > 0) lines.push(`  and ${more} more`)
  return lines
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`
}

function shown(difference: number | null): string {
  return difference === null ? 'unknown' : difference === 0 ? '0' : difference.toPrecision(3)
}
