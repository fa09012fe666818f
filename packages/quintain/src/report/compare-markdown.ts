import type { Comparison } from './compare.ts'
import {
  type ComparisonLine,
  damageNotes,
  flipLines,
  measureLines,
  regressionText,
  runCells,
  runColumns,
  runNotes,
  severityText,
  taskNotes,
} from './compare-text.ts'
import { markdownText } from './markdown.ts'
import { plural } from './number-text.ts'

function row(cells: readonly string[]): string {
  return `| ${cells.map(markdownText).join(' | ')} |`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)]
}

/** What a flag on a pull request shows first. */
function headline(comparison: Comparison): string[] {
  const verdicts = comparison.pairs.flatMap(({ regression, to }) =>
    regression === undefined ? [] : [`${comparison.runs[to]!.letter}: ${regressionText(regression).verdict}`],
  )
  const told = comparison.comparable
    ? []
    : ['NOT COMPARABLE: these runs do not measure the same thing; see the plan below.']
  return [...told, ...verdicts].map((text) => `**${markdownText(text)}**`)
}

/** A comparison as GitHub-flavoured Markdown, for a pull request. `flips` is how many tasks of each kind are named; 10 when absent. */
export function formatComparisonMarkdown(
  comparison: Comparison,
  { flips = 10 }: { flips?: number } = {},
): string {
  const { environment, runs, plan, pairs, correction } = comparison
  const letters = runs.map(({ letter }) => letter)
  const lines = [
    `### ${markdownText(`${environment.name} ${environment.version}: ${plural(runs.length, 'run')} compared`)}`,
  ]
  for (const text of headline(comparison)) lines.push('', text)
  lines.push('', ...table(runColumns, runs.map(runCells)))
  for (const note of [...runNotes(comparison), ...damageNotes(comparison)]) lines.push('', markdownText(note))
  for (const pair of pairs) {
    const cells = ({ label, value, note }: ComparisonLine) => [label, value, note]
    const differences = pair.same ? [] : measureLines(pair, correction === 'Holm')
    lines.push('', `#### ${markdownText(`${letters[pair.to]} less ${letters[pair.from]}`)}`, '')
    if (differences.length > 0) lines.push(...table(['', '', ''], differences.map(cells)))
    for (const note of taskNotes(pair, letters)) lines.push('', markdownText(note))
    if (pair.regression !== undefined) lines.push('', markdownText(regressionText(pair.regression).fine))
    const found = pair.same ? [] : flipLines(pair.flips, flips)
    if (found.length > 0) {
      lines.push(
        '',
        '<details><summary>Tasks that changed</summary>',
        '',
        ...table(['', '', ''], found.map(cells)),
        '',
        '</details>',
      )
    }
  }
  if (plan.length > 0) {
    const rows = plan.map((found) => [found.field, ...found.values, severityText(found)])
    lines.push(
      '',
      '<details><summary>What differs between the plans</summary>',
      '',
      ...table(['', ...letters, ''], rows),
      '',
      '</details>',
    )
  }
  return `${lines.join('\n')}\n`
}
