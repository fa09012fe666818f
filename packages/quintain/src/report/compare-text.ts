import type { ComparedRun, Comparison, PairComparison } from './compare.ts'
import type { Difference, DifferenceInterval, DifferenceReason } from './difference.ts'
import { estimateNote, estimateValue } from './estimate-text.ts'
import type { Flip, FlipKind } from './flips.ts'
import { countText, dollarText, durationText, plural, scoreText, shareText } from './number-text.ts'
import type { PlanDifference } from './plan-diff.ts'
import { printableLine } from './printable.ts'
import type { Regression, RegressionDoubt } from './regression.ts'
import { plainStyle, type Style } from './style.ts'
import { formatTable } from './table.ts'

const reasons: Record<DifferenceReason, string> = {
  no_pairs: 'no task was scored in both',
  single_pair: 'one task says nothing of how tasks differ',
  no_spread: 'every task differs by the same',
  single_repeats: 'needs two scored attempts of every task in both runs',
  repeats_agree: 'the repeats of each task agree',
  same_run: 'it is the same run',
  too_large: 'the scores are too large for their spread to be computed',
}

/** A score with its sign: what a difference is. */
export function signedText(value: number | null): string {
  const text = scoreText(value)
  return value === null || value <= 0 || text.startsWith('-') || Number(text) === 0 ? text : `+${text}`
}

function intervalText({ interval }: DifferenceInterval): string {
  return interval === null ? '' : ` [${interval.map(signedText).join(', ')}]`
}

function methodText({ interval, level, method, scope, reason }: DifferenceInterval): string {
  if (interval !== null) return `${100 * level} %, ${method}, ${scope}`
  return `no interval: ${reasons[reason ?? 'no_spread']}, ${scope}`
}

/** `0.016`, `< 0.001`. */
export function pText(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`
}

/** One line of a report: what it is about, what it says, and the small print. */
export interface ComparisonLine {
  label: string
  value: string
  note: string
}

/** What is said of both measures: all of the one that decides, and the difference of the other. */
export function measureLines({ success, reward }: PairComparison, corrected: boolean): ComparisonLine[] {
  if (success === null) return differenceLines('reward', reward, corrected)
  return [
    ...differenceLines('success', success, corrected),
    ...differenceLines('reward', reward, corrected).slice(0, 1),
  ]
}

/** What is said of one measure, in up to five lines. */
function differenceLines(label: string, found: Difference, corrected: boolean): ComparisonLine[] {
  const { difference, newTasks, again } = found
  if (difference === null) return [{ label, value: 'none', note: reasons[newTasks.reason ?? 'no_pairs'] }]
  const counts = `n = ${plural(found.pairs, 'task')}: ${countText(found.higher)} better, ${countText(found.equal)} equal, ${countText(found.lower)} worse`
  const lines: ComparisonLine[] = [
    {
      label,
      value: `${signedText(difference)}${intervalText(newTasks)}`,
      note: `${methodText(newTasks)}; ${counts}`,
    },
  ]
  if (again.interval !== null || (again.reason === 'repeats_agree' && newTasks.interval !== null)) {
    lines.push({
      label: '',
      value: `${signedText(difference)}${intervalText(again)}`,
      note: methodText(again),
    })
  }
  if (found.p !== null) {
    const how = found.pMethod === 'sign_flip_exact' ? 'exact sign flips' : 'sampled sign flips'
    const single = isClose(found.p, found.pMean)
    const claim = single ? '' : ': chance of this where both play alike'
    const same =
      found.mcnemar === null
        ? ''
        : `, as McNemar's exact test: ${found.mcnemar.gained} gained, ${found.mcnemar.lost} lost`
    const holm =
      corrected && found.pHolm !== null ? `; ${pText(found.pHolm)} by Holm over the comparisons here` : ''
    lines.push({ label: '', value: `p ${pText(found.p)}`, note: `two-sided, ${how}${claim}${same}${holm}` })
    if (!single && found.pMean !== null) lines.push(meanLine(found, corrected))
  }
  if (found.detectable !== null) {
    lines.push({
      label: '',
      value: `could have seen ± ${scoreText(found.detectable)}`,
      note: 'the smallest change that tasks which differ like these show in 4 of 5 comparisons, at 5 %',
    })
  } else if (found.higher + found.lower > 0 && found.newTasks.interval !== null) {
    const note = `at 5 % no change shows in 4 of 5 comparisons of ${plural(found.pairs, 'task')}`
    lines.push({ label: '', value: 'could have seen nothing', note })
  }
  if (found.bounds !== null && found.bounds[0] !== found.bounds[1]) {
    lines.push({
      label: '',
      value: `between ${signedText(found.bounds[0])} and ${signedText(found.bounds[1])}`,
      note: 'whatever the missing scores would have been',
    })
  }
  return lines
}

const isClose = (a: number, b: number | null) => b !== null && Math.abs(a - b) <= 1e-6 * Math.max(a, b)

/** The p of equal means, which sign flips are no test of: said where it is another number. */
function meanLine({ pMean, pMeanHolm, range }: Difference, corrected: boolean): ComparisonLine {
  const holm = corrected && pMeanHolm !== null ? `; ${pText(pMeanHolm)} by Holm` : ''
  const [low, high] = range
  const seen =
    low === 0 && high === 1 ? '' : `, for rewards from ${scoreText(low)} to ${scoreText(high)}, as were seen`
  return {
    label: '',
    value: `p ${pText(pMean ?? 1)}`,
    note: `two-sided, of equal means whatever the shape${seen}${holm}`,
  }
}

/** Why two runs are not compared by the whole of their tasks, sentence by sentence. */
export function taskNotes(pair: PairComparison, letters: readonly string[]): string[] {
  const { tasks } = pair
  const some = (ids: readonly string[]) => {
    const shown = ids.slice(0, 5).map((id) => printableLine(id, 40))
    return `${shown.join(', ')}${ids.length > shown.length ? ', …' : ''}`
  }
  const notes: string[] = []
  const from = letters[pair.from]!
  const to = letters[pair.to]!
  if (pair.same) notes.push(`${from} and ${to} are the same run: nothing is compared.`)
  const left = pair.incompleteTasks - pair.partialTasks
  if (left > 0) notes.push(`${plural(left, 'task')} left out, without a score in one of the runs.`)
  if (pair.partialTasks > 0) {
    notes.push(`${plural(pair.partialTasks, 'task')} compared by a part of the orders only.`)
  }
  for (const [letter, ids] of [
    [from, tasks.onlyFrom],
    [to, tasks.onlyTo],
  ] as const) {
    if (ids.length > 0) notes.push(`${plural(ids.length, 'task')} in ${letter} only, left out: ${some(ids)}.`)
  }
  if (tasks.renamed.length > 0) {
    const shown = tasks.renamed.map(({ from: old, to: now }) => `${old} is now ${now}`)
    notes.push(
      `${plural(tasks.renamed.length, 'task')} left out that ${tasks.renamed.length === 1 ? 'has' : 'have'} the same content under another name: ${some(shown)}.`,
    )
  }
  return notes
}

const doubtWords: Record<RegressionDoubt, string> = {
  unfinished: 'a run is not finished',
  scores_missing: 'scores are missing',
  tasks_missing: 'tasks of the first run are missing in the other, or have another name',
  too_few_tasks: 'fewer than two tasks were scored in both runs',
  cannot_fail: 'no loss could be shown with these tasks',
}

/** What the look for a regression found, in one sentence, and what may be expected of it in another. */
export function regressionText(found: Regression): { verdict: string; fine: string } {
  const { regressed, doubts, margin, p, smallestP } = found
  const loss = margin > 0 ? `worse by more than ${scoreText(margin)}` : 'worse'
  const one = p === null ? '' : `, one-sided p ${pText(p)}`
  const best =
    doubts.includes('cannot_fail') && smallestP !== null
      ? ` (had all been lost, p would be ${smallestP.toFixed(3)})`
      : ''
  const why = doubts.map((doubt) => `${doubtWords[doubt]}${doubt === 'cannot_fail' ? best : ''}`).join('; ')
  const though = doubts.length > 0 ? `, though ${why}` : ''
  const verdict =
    regressed === true
      ? `REGRESSION: ${loss} beyond chance${one}${though}`
      : regressed === false
        ? `no regression shown: not ${loss} beyond chance${one}`
        : `cannot tell: ${why}${one}`
  return {
    verdict,
    fine: `cries wolf in at most ${shareText(found.alpha)} of comparisons in which the mean did not get ${loss}; ${catchesText(found)}`,
  }
}

function catchesText({ catches, catchesReason }: Regression): string {
  if (catches !== null)
    return `it would catch a loss of ${scoreText(catches)} in 4 of 5 cases, and smaller ones less often`
  if (catchesReason === 'beyond_largest') return 'with these tasks it would catch no loss in 4 of 5 cases'
  const why = catchesReason === 'alike' ? ', since all tasks differ by the same' : ''
  return `how small a loss it would catch cannot be said${why}`
}

const flipWords: Record<FlipKind, string> = {
  broken: 'broken',
  fixed: 'fixed',
  unstable: 'unstable',
  lower: 'lower',
  higher: 'higher',
}

/** `crane 0/2 → 2/2`; of rewards the means. */
export function flipText({ task, kind, from, to }: Flip): string {
  const side = ({ sum, n }: Flip['from']) =>
    kind === 'higher' || kind === 'lower' ? scoreText(sum / n) : `${sum}/${n}`
  return `${printableLine(task, 40)} ${side(from)} → ${side(to)}`
}

/** How many tasks changed how, and the first few of each kind. */
export function flipLines(flips: readonly Flip[], most: number): ComparisonLine[] {
  const kinds = new Map<FlipKind, Flip[]>()
  for (const flip of flips) kinds.set(flip.kind, [...(kinds.get(flip.kind) ?? []), flip])
  return [...kinds].map(([kind, list]) => {
    const rest = list.length - Math.min(most, list.length)
    const shown = list.slice(0, most).map(flipText).join(', ')
    return {
      label: flipWords[kind],
      value: plural(list.length, 'task'),
      note: `${shown}${rest > 0 ? `, … ${countText(rest)} more` : ''}`,
    }
  })
}

/** What is said of each run, column by column. */
export const runColumns = [
  '',
  'player',
  'success',
  'reward',
  'orders',
  'coverage',
  'cost',
  'per order',
  'p50',
  'run',
] as const

export function runCells(run: ComparedRun): string[] {
  const { cost } = run
  const known = cost.usd === null && cost.knownUsd > 0 ? ` (${dollarText(cost.knownUsd)} known)` : ''
  return [
    run.letter,
    printableLine(run.player, 60),
    run.success.reason === 'not_declared' ? 'not declared' : estimateValue(run.success),
    estimateValue(run.reward),
    countText(run.orders),
    shareText(run.coverage),
    `${dollarText(cost.usd)}${known}`,
    run.costPerOrder === null ? 'unknown' : dollarText(run.costPerOrder),
    // Recorded conversations that were imported tell no times, and zero would be a claim.
    run.wallMs.p95 === 0 ? '–' : durationText(run.wallMs.p50),
    printableLine(run.dir, 120),
  ]
}

/** How the intervals of the runs came about: one line where all came about alike. */
export function runNotes({ runs, measure }: Comparison): string[] {
  const notes = runs.map((run) => estimateNote(measure === 'success' ? run.success : run.reward))
  if (new Set(notes).size === 1) return [`${measure}: ${notes[0]}`]
  return runs.map(({ letter }, at) => `${measure} of ${letter}: ${notes[at]}`)
}

const severities = { refuse: 'NOT COMPARABLE', label: 'differs', note: '' }

/** What is said behind a line of the plan. */
export function severityText({ severity, unknown }: PlanDifference): string {
  return unknown === true ? 'cannot be told' : severities[severity]
}

/** What is wrong with the files of the runs. */
export function damageNotes({ runs }: Comparison): string[] {
  return runs.flatMap(({ letter, damage }) => (damage === null ? [] : [`${letter}: ${damage}`]))
}

/** A comparison for a terminal. `flips` is how many tasks of each kind are named; 8 when absent. */
export function formatComparison(
  comparison: Comparison,
  { style = plainStyle, flips = 8 }: { style?: Style; flips?: number } = {},
): string {
  const { runs, plan, pairs, environment, correction } = comparison
  const letters = runs.map(({ letter }) => letter)
  const out: string[] = [
    style.bold(
      printableLine(
        `${environment.name} ${environment.version} · ${plural(runs.length, 'run')} compared, task by task`,
      ),
    ),
    '',
  ]
  const indent = (table: string) => table.trimEnd().replace(/^/gm, '  ')
  out.push(indent(formatTable([...runColumns], runs.map(runCells), style)))
  for (const note of runNotes(comparison)) out.push(style.dim(`  ${note}`))
  for (const note of damageNotes(comparison)) out.push(style.red(`  ${printableLine(note, 300)}`))
  if (plan.length > 0) {
    const rows = plan.map((found) => [found.field, ...found.values, severityText(found)])
    out.push('', indent(formatTable(['plan', ...letters, ''], rows, style)))
  }
  const corrected = correction === 'Holm'
  for (const pair of pairs) {
    out.push('', style.bold(`  ${letters[pair.to]} less ${letters[pair.from]}`))
    const lines = pair.same ? [] : [...measureLines(pair, corrected), ...flipLines(pair.flips, flips)]
    for (const { label, value, note } of lines) {
      out.push(`  ${style.cyan(label.padEnd(8))}  ${value}${style.dim(` (${note})`)}`)
    }
    for (const note of taskNotes(pair, letters)) out.push(style.yellow(`  ${note}`))
    if (pair.regression !== undefined) {
      const { verdict, fine } = regressionText(pair.regression)
      const colour = pair.regression.regressed === false ? style.green : style.red
      out.push(`  ${colour(verdict)}`, style.dim(`  ${fine}`))
    }
  }
  if (!comparison.comparable) {
    out.push('', style.red('  NOT COMPARABLE: these runs do not measure the same thing; see the plan above.'))
  }
  return `${out.join('\n')}\n`
}
