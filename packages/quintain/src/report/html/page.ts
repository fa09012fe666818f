import { playerName } from '../../core/index.ts'
import { countText, plural } from '../number-text.ts'
import { printableLine } from '../printable.ts'
import type { RunSummary } from '../summarize.ts'
import { type ReportRow, reportRows, runTitle, unfinishedText } from '../text.ts'
import { distributionCards, endingsCard, timeCard, triesCard } from './cards.ts'
import type { Distributions } from './distributions.ts'
import { type Child, html, type Markup } from './markup.ts'
import { estimateTiles, ordersTile, spendingTile } from './tiles.ts'

function provenance({ run }: RunSummary): Markup {
  const { environment, limits } = run
  const line = (name: string, value: Child) => html`<dt>${name}</dt><dd>${value}</dd>`
  const json = (value: unknown) => printableLine(JSON.stringify(value), 2_000)
  return html`<dl class="facts">
${line('environment', html`${printableLine(`${environment.name} ${environment.version}`)} <code>${environment.digest.slice(0, 16)}</code>`)}
${line('rubric', html`<code>${printableLine(run.rubric, 80)}</code>`)}
${Object.entries(run.seats).map(([seat, { endpoint, sampling, ...player }]) =>
  line(
    `seat ${printableLine(seat, 40)}`,
    printableLine(
      `${playerName(player)}${endpoint === undefined ? '' : ` at ${endpoint}`}${sampling === undefined ? '' : `, ${JSON.stringify(sampling)}`}`,
      1_000,
    ),
  ),
)}
${Object.keys(environment.options).length > 0 && line('options', html`<code>${json(environment.options)}</code>`)}
${line('limits', html`<code>${json(limits)}</code>`)}
${line('seed', html`<code>${printableLine(run.seed, 80)}</code>`)}
${line('isolation', run.isolation)}
${line('run', html`<code>${printableLine(run.id, 80)}</code>, created ${printableLine(run.created, 40)} by Quintain ${printableLine(run.quintain, 40)} on Node ${printableLine(run.node, 40)}`)}
</dl>`
}

/** The report as its terminal form says it, line by line, so that the two can never differ. */
function reportTable(rows: readonly ReportRow[]): Markup {
  return html`<table class="report">${rows.map(
    ({ label, value, note, mood }) =>
      html`<tr${mood !== undefined && html` class="${mood}"`}><th scope="row">${label}</th><td>${value}${note !== undefined && note !== '' && html` <span class="note">(${note})</span>`}</td></tr>`,
  )}</table>`
}

/** What the page says of the trajectories that it holds. */
export function embeddedText(embedded: number, recorded: number, orders: number): string {
  const none = orders - recorded
  const pending = none > 0 ? ` ${plural(none, 'order')} ${none === 1 ? 'has' : 'have'} no attempt yet.` : ''
  if (embedded === recorded)
    return `All ${plural(recorded, 'trajectory', 'trajectories')} are in this page.${pending}`
  return `This page holds ${countText(embedded)} of ${plural(recorded, 'trajectory', 'trajectories')}: what did not succeed first, then the rest, one of every task at a time, until it was full (--html-max-mb).${pending}`
}

function explorer(summary: RunSummary, said: string): Markup {
  const success = summary.run.environment.success
  return html`<section id="explore" aria-labelledby="explore-title"><h2 id="explore-title">Rollouts</h2>
<p class="note">${said} Text of models is shown as it is; characters that would act or hide are shown as escapes.</p>
<noscript><p class="banner">The list and the trajectories need JavaScript. Without it: <code>npx quintain show ${printableLine(summary.run.dir)}</code></p></noscript>
<p id="broken" class="banner" role="alert" hidden></p>
<div id="tasks-box" hidden><h3 id="tasks-title">Tasks</h3>
<p class="note" id="tasks-note">Each cell is a task, sorted by ${success ? 'its share of successes' : 'its mean reward'} over its scored orders (plain means, no interval). Arrow keys move, Enter filters.</p>
<div id="strip" tabindex="0" role="application" aria-roledescription="task map" aria-labelledby="tasks-title" aria-describedby="tasks-note strip-said"></div>
<p id="strip-said" class="said" aria-live="polite"></p></div>
<div id="filters" role="search" hidden>
<div id="kinds" role="group" aria-label="status"></div>
<label class="hidden" for="ending">how it ended</label><select id="ending"></select>
<label class="hidden" for="sort">order</label><select id="sort"></select>
<label class="hidden" for="text">text</label><input id="text" type="search" placeholder="task, outcome, fault…" autocomplete="off" spellcheck="false">
<label class="check"><input id="deep" type="checkbox"> in messages</label>
<button id="clear" type="button">Clear</button>
<span id="count" role="status"></span></div>
<div id="panes" hidden><div id="list" class="scroll" tabindex="0" role="listbox" aria-label="rollouts"></div>
<article id="reader" aria-label="trajectory"><header id="reader-head"></header><div id="reader-body" class="scroll" tabindex="0" role="region" aria-label="messages"></div></article></div>
</section>\n`
}

/**
 * All of the page that needs no script, as the inside of `body` up to the data: headline, pictures, tables, and the empty
 * elements that the script fills. Every number comes from `summary`.
 */
export function pageBody(summary: RunSummary, values: Distributions, said: string): Markup {
  const { run, success, reward, again, warnings } = summary
  const repeated = summary.repeats.max > 1
  const unfinished = unfinishedText(summary)
  const rows = reportRows(summary)
  const distributions = distributionCards(summary, values)
  const headlines = [
    ...(run.environment.success ? [{ title: 'Success', found: success, again: again.success }] : []),
    { title: 'Mean reward', found: reward, again: again.reward },
  ]
  return html`<a class="skip" href="#explore">To the rollouts</a>
<header class="top"><p class="brand">Quintain <span>report</span></p>
<h1>${printableLine(`${run.environment.name} ${run.environment.version}`, 120)}</h1>
<p class="lead">${runTitle(summary).split(' · ').slice(1).join(' · ')}</p></header>
<main>
${unfinished !== undefined && html`<p class="banner">${unfinished}</p>`}
${warnings.map(({ message }) => html`<p class="banner">${printableLine(message, 400)}</p>`)}
<div class="tiles">${estimateTiles(headlines, repeated)}${ordersTile(summary)}${spendingTile(summary, rows)}</div>
<div class="cards">${endingsCard(summary, distributions.length >= 3)}${triesCard(summary)}${distributions}${timeCard(summary, values)}</div>
${explorer(summary, said)}
<section class="card wide"><h2>The report in full</h2><p class="note">Line by line what <code>npx quintain report ${printableLine(run.dir)}</code> prints.</p>${reportTable(rows)}</section>
<section class="card wide"><h2>What ran</h2>${provenance(summary)}</section>
</main>
<footer><p>Made by Quintain ${printableLine(run.quintain, 40)} from the run's publishable records. This file loads nothing and sends nothing.</p></footer>
`
}
