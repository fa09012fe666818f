import type { Estimate } from '../estimate.ts'
import { estimateNote, estimateValue } from '../estimate-text.ts'
import { dollarText, durationText, plural, scoreText, shareText } from '../number-text.ts'
import type { RunSummary } from '../summarize.ts'
import type { ReportRow } from '../text.ts'
import { type Count, domainOf, intervalBar, stackedBar } from './charts.ts'
import { html, type Markup } from './markup.ts'

/** A headline of a page: one estimate for new tasks, and one for these tasks again. */
export interface Headline {
  title: string
  found: Estimate
  again: Estimate
}

const intervalOf = (one: Estimate) => (one.method === 'none' ? null : one.interval)

/** The headlines beside each other, on one axis, so that what is drawn further to the right is more. */
export function estimateTiles(headlines: readonly Headline[], repeated: boolean): Markup[] {
  const domain = domainOf(
    headlines.flatMap(({ found, again }) => [
      found.value ?? found.observed,
      ...(intervalOf(found) ?? []),
      ...(repeated ? (intervalOf(again) ?? []) : []),
    ]),
  )
  return headlines.map((headline) => estimateTile(headline, repeated, domain))
}

/** A headline: the number, its interval on an axis, and how it came about. */
function estimateTile(
  { title, found, again }: Headline,
  repeated: boolean,
  domain: readonly [number, number],
): Markup {
  const value = found.value ?? found.observed
  const showAgain = repeated && again.value !== null && intervalOf(again) !== null
  const range = estimateValue(found).replace(/^\S+ ?/, '')
  return html`<section class="tile"><h2>${title}</h2>
<p class="big">${scoreText(found.value)}${range !== '' && html` <span class="range">${range}</span>`}</p>
${
  value !== null &&
  found.value !== null &&
  intervalBar({
    value,
    interval: intervalOf(found),
    again: showAgain ? intervalOf(again) : null,
    domain,
    label: `${title} ${estimateValue(found)}`,
  })
}
<p class="note">${estimateNote(found)}</p>
${showAgain && html`<p class="note">Run again on these very tasks: <b>${estimateValue(again)}</b> (${estimateNote(again)})</p>`}</section>\n`
}

/** What became of everything that was ordered. */
export function ordersTile(summary: RunSummary): Markup {
  const { status, orders, coverage, minCoverage } = summary
  const tones = {
    scored: 'good',
    unscored: 'unscored',
    faulted: 'fault',
    cancelled: 'dim',
    pending: 'hollow',
  }
  const parts: Count[] = (['scored', 'unscored', 'faulted', 'cancelled', 'pending'] as const)
    .filter((name) => status[name] > 0)
    .map((name) => ({ name, count: status[name], tone: tones[name] }))
  return html`<section class="tile"><h2>Coverage</h2>
<p class="big">${shareText(coverage)} <span class="range">of ${plural(orders, 'order')} scored</span></p>
${stackedBar(parts, orders, 'order')}
<p class="note">Scored orders over all that were ordered${minCoverage < 1 && `; the declared minimum is ${shareText(minCoverage)}`}. What has no score is never counted as a zero.</p></section>\n`
}

/** Money and tokens; the lines are those of the report. */
export function spendingTile(summary: RunSummary, rows: readonly ReportRow[]): Markup {
  const { cost, attempts, activeMs, time } = summary
  const known = cost.total.usd === null && cost.total.knownUsd > 0
  const spent = rows.filter(({ label }) => label === 'cost' || label.endsWith(' tokens'))
  return html`<section class="tile"><h2>Cost</h2>
<p class="big">${dollarText(cost.total.usd)}${known && html` <span class="range">${dollarText(cost.total.knownUsd)} known</span>`}</p>
<dl class="spent">${spent.map(({ label, value, note }) => html`<dt>${label}</dt><dd>${value}${note !== undefined && html` (${note})`}</dd>`)}</dl>
<p class="note">Sums over ${plural(attempts.total, 'attempt')}, retried ones too; no estimate.${(time.rollout.max ?? 0) > 0 && ` The run was active for ${durationText(activeMs)}; its attempts took ${durationText(time.rollout.total)} together.`}</p></section>\n`
}
