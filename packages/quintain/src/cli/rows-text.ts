import type { ExportRowsReport } from '../doors/rows-out/index.ts'
import { countText, plainStyle, plural, printableLine, type Style, shareText } from '../report/index.ts'
import type { RunRowsReport } from '../rows/index.ts'

const width = 10

/** What became of the calls of a run, for people. */
export function formatRows(report: RunRowsReport, { style = plainStyle }: { style?: Style } = {}): string {
  const { run, seat, attempts, rows, tokens, calls, breaks, refused, cut, issues } = report
  const { withRows, withoutRows, leftOut } = attempts
  const total = tokens.sampled + tokens.environment + tokens.prompt
  const lines: [string, string][] = [
    ['attempts', `${countText(withRows)} with rows, ${countText(withoutRows)} without`],
    ['left out', listed(leftOut)],
    ['calls', listed(calls)],
    ['rows', listed(rows)],
    ['tokens', total === 0 ? '' : tokensText(tokens, total)],
    ['breaks', listed(countsOf(breaks))],
    ['refused', listed(countsOf(refused))],
    ['cut', cut === 0 ? '' : `${plural(cut, 'row')} cut to the length asked for`],
    ['damaged', issues.length === 0 ? '' : plural(issues.length, 'place')],
  ]
  const shown = lines.filter(([label, text]) => text !== '' || label === 'rows' || label === 'calls')
  const title = printableLine(`${run.dir}  ${run.environment}, seat ${seat}, ${run.policy ?? 'no policy'}`)
  const parts = [
    style.bold(title),
    ...shown.map(([label, text]) => `${style.dim(label.padEnd(width))}${text || 'none'}`),
    ...examplesOf(report).map((text) => style.dim(`  ${text}`)),
  ]
  return `${parts.join('\n')}\n`
}

/** What became of the attempts of some runs when rows for a trainer were made of them, for people. */
export function formatExport(
  report: ExportRowsReport,
  { style = plainStyle }: { style?: Style } = {},
): string {
  const { form, runs, seat, filter, tasks, attempts, rows, pairs, issues } = report
  const { made, ...unmade } = pairs ?? { made: 0 }
  const lines: [string, string][] = [
    ['rows', `${countText(rows)} for ${form}`],
    ['filter', filter],
    ['tasks', `${countText(tasks.withRows)} with rows, ${countText(tasks.withoutRows)} without`],
    ['attempts', `${countText(attempts.used)} used`],
    ['left out', listed(attempts.leftOut)],
    ['no tokens', untrainedText(attempts)],
    [
      'pairs',
      pairs === undefined ? '' : [`${countText(made)} made`, listed(unmade)].filter(Boolean).join(', '),
    ],
    ['damaged', issues.length === 0 ? '' : plural(issues.length, 'place')],
  ]
  const titles = runs.map(({ dir, environment, policy }) =>
    style.bold(printableLine(`${dir}  ${environment}, seat ${seat}, ${policy ?? 'no policy'}`)),
  )
  const shown = lines.filter(([, text]) => text !== '')
  return `${[...titles, ...shown.map(([label, text]) => `${style.dim(label.padEnd(width))}${text}`)].join('\n')}\n`
}

/** Groups of ART look the same with and without tokens, and ART trains on those without only where it is told to. */
function untrainedText({ used, withoutTokens = 0 }: ExportRowsReport['attempts']): string {
  if (withoutTokens === 0) return ''
  return `${countText(withoutTokens)} of ${countText(used)} attempts have choices without sampled tokens, on which ART does not train unless told to`
}

function tokensText(tokens: RunRowsReport['tokens'], total: number): string {
  const { sampled, environment, prompt } = tokens
  return `${countText(sampled)} trained (${shareText(sampled / total)}), ${countText(prompt)} prompt, ${countText(environment)} environment`
}

/** One example of each kind of break and refusal, to be looked at with `quintain show`. */
function examplesOf({ breaks, refused }: RunRowsReport): string[] {
  const found: string[] = []
  for (const [cause, { examples }] of Object.entries(breaks)) {
    const [first] = examples
    if (first === undefined) continue
    const { order, call, after, at, of } = first
    found.push(
      `${cause}: ${order} call ${call} keeps ${countText(at)} of ${countText(of)} tokens of call ${after}`,
    )
  }
  for (const [reason, { examples }] of Object.entries(refused)) {
    const [first] = examples
    if (first !== undefined) found.push(`${reason}: ${first.order} call ${first.call}`)
  }
  return found.map((text) => printableLine(text, 160))
}

function countsOf(counted: Partial<Record<string, { count: number }>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counted).map(([name, found]) => [name, found?.count ?? 0]))
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${countText(count)}`)
    .join(', ')
}
