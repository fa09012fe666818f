import type { Estimate } from '../estimate.ts'
import { estimateNote, estimateValue } from '../estimate-text.ts'
import { countText, dollarText, durationText, plural, scoreText, shareText } from '../number-text.ts'
import { printableLine } from '../printable.ts'
import type { Ledger, Percentiles, RunSummary } from '../summarize.ts'
import { reportRows, runTitle, unfinishedText } from '../text.ts'
import {
  type Count,
  countBars,
  domainOf,
  histogramChart,
  intervalBar,
  stackedBar,
  type Tail,
  tailsChart,
} from './charts.ts'
import type { Distributions } from './distributions.ts'
import { decades, histogram } from './histogram.ts'
import { type Child, html, type Markup } from './markup.ts'

/** Distributions of components that are drawn; more are in the table of the report. */
const mostComponents = 12

function card(title: string, note: Child, body: Child, wide = false): Markup {
  return html`<section class="card${wide && ' wide'}"><h3>${title}</h3>${note !== '' && html`<p class="note">${note}</p>`}${body}</section>\n`
}

function estimateTile(title: string, found: Estimate, again: Estimate, repeated: boolean): Markup {
  const interval = (one: Estimate) => (one.method === 'none' ? null : one.interval)
  const value = found.value ?? found.observed
  const domain = domainOf([value, ...(interval(found) ?? []), ...(interval(again) ?? [])])
  const showAgain = repeated && again.value !== null && interval(again) !== null
  const range = estimateValue(found).replace(/^\S+ ?/, '')
  return html`<section class="tile"><h2>${title}</h2>
<p class="big">${scoreText(found.value)}${range !== '' && html` <span class="range">${range}</span>`}</p>
${
  value !== null &&
  found.value !== null &&
  intervalBar({
    value,
    interval: interval(found),
    again: showAgain ? interval(again) : null,
    domain,
    label: `${title} ${estimateValue(found)}`,
  })
}
<p class="note">${estimateNote(found)}</p>
${showAgain && html`<p class="note">Run again on these very tasks: <b>${estimateValue(again)}</b> (${estimateNote(again)})</p>`}</section>\n`
}

function ordersTile(summary: RunSummary): Markup {
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

const seatTokens = (used: RunSummary['usage']['agent']) => used.fresh + used.cacheRead + used.cacheWrite

function ledgerText({ usd, knownUsd, unknownAttempts }: Ledger): string {
  if (usd !== null) return dollarText(usd)
  return `${knownUsd > 0 ? `${dollarText(knownUsd)} + ` : ''}unknown for ${plural(unknownAttempts, 'attempt')}`
}

function spendingTile({ usage, cost, attempts, activeMs, time }: RunSummary): Markup {
  const names = (['agent', 'simulator', 'judge'] as const).filter((name) => usage[name] !== undefined)
  return html`<section class="tile"><h2>Cost</h2>
<p class="big">${cost.total.usd === null ? 'unknown' : dollarText(cost.total.usd)}${cost.total.usd === null && cost.total.knownUsd > 0 && html` <span class="range">${dollarText(cost.total.knownUsd)} known</span>`}</p>
<table class="plain"><tr><th scope="col"><span class="hidden">ledger</span></th><th scope="col" class="num">tokens in</th><th scope="col" class="num">of these cached</th><th scope="col" class="num">out</th><th scope="col" class="num">cost</th></tr>${names.map(
    (name) => {
      const used = usage[name]!
      const ledger = cost[name]
      return html`<tr><th scope="row">${name}</th><td class="num">${countText(seatTokens(used))}</td><td class="num">${countText(used.cacheRead)}</td><td class="num">${countText(used.output)}</td><td class="num">${ledger === undefined ? 'none' : ledgerText(ledger)}</td></tr>`
    },
  )}</table>
<p class="note">Sums over ${plural(attempts.total, 'attempt')}, retried ones too, not estimates. The run was active for ${durationText(activeMs)}; its attempts took ${durationText(time.rollout.total)} together.</p></section>\n`
}

function timeCard(summary: RunSummary, values: Distributions): Markup {
  const { time } = summary
  const all: (Tail & { times: Percentiles; note?: string })[] = [
    { name: 'rollout', values: values.rollout, ...time.rollout, times: time.rollout },
    { name: 'model', values: values.model, ...time.model, times: time.model },
    { name: 'waiting', values: values.wait, ...time.wait, times: time.wait },
    { name: 'grading', values: values.grading, ...time.grading, times: time.grading },
  ]
  const shown = all.filter(({ name, max }) => name === 'rollout' || name === 'grading' || (max ?? 0) >= 0.05)
  const n = values.rollout.length
  if (n === 0) return card('Time', '', html`<p class="empty">No attempt has ended yet.</p>`, true)
  const table = html`<table class="plain"><tr><th scope="col"><span class="hidden">kind</span></th>${['p50', 'p95', 'p99', 'max'].map((name) => html`<th scope="col" class="num">${name}</th>`)}</tr>${shown.map(
    ({ name, p50, p95, p99, max }) =>
      html`<tr><th scope="row">${name}</th>${[p50, p95, p99, max].map((ms) => html`<td class="num">${durationText(ms)}</td>`)}</tr>`,
  )}</table>`
  return card(
    'Time and its tail',
    `Percentiles of ${plural(n, 'attempt')} that count (interpolated between order statistics, no interval). Log axis; bars by the root of the count, so that the tail shows; lines at p50, p95, p99. Waiting is queue and back-off, which is not counted against the agent.`,
    html`${tailsChart(shown, decades(shown.map((tail) => tail.values)))}${table}`,
    true,
  )
}

function endingsCard(summary: RunSummary): Markup {
  const { outcomes, faults, unscored, orders, status } = summary
  const counts: Count[] = [
    ...Object.entries(outcomes)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => ({ name, count, tone: 'bar' })),
    ...faults.slice(0, 20).map(({ owner, code, stage, count }) => ({
      name: `${owner}: ${code}`,
      note: `in ${stage}`,
      count,
      tone: 'fault',
    })),
    ...(status.pending > 0 ? [{ name: 'pending', count: status.pending, tone: 'hollow' }] : []),
  ]
  const examples = faults.slice(0, 5)
  return card(
    'How rollouts ended',
    `Counts of ${plural(orders, 'order')}. An outcome is the agent's own doing and is scored; a fault is nobody's score, told by its owner.`,
    html`${countBars(counts, orders)}${
      examples.length > 0 &&
      html`<h4>Faults, an example of each</h4><ul class="examples">${examples.map(({ owner, stage, code, example }) => html`<li><b>${owner}</b> ${printableLine(`${code} in ${stage}`, 80)}: ${printableLine(example, 300)}</li>`)}</ul>`
    }${
      unscored.length > 0 &&
      html`<h4>Without a score, and why</h4>${countBars(
        unscored.slice(0, 10).map(({ component, reason, count }) => ({
          name: `${component}: ${reason}`,
          count,
          tone: 'unscored',
        })),
        orders,
      )}`
    }`,
  )
}

function distributionCards(summary: RunSummary, values: Distributions): Child {
  const of = (title: string, found: readonly number[], note: string) =>
    card(
      title,
      note,
      found.length === 0
        ? html`<p class="empty">No value.</p>`
        : histogramChart(histogram(found), `${title}: distribution of ${plural(found.length, 'value')}`),
    )
  const { reward } = summary
  const share = (n: number) =>
    `n = ${countText(n)} of ${plural(summary.orders, 'order')} (${shareText(summary.orders > 0 ? n / summary.orders : null)})`
  const rewards = Object.entries(summary.rewards)
  const metrics = Object.entries(summary.metrics)
  const parts = [
    // A single reward of weight 1 is the reward itself.
    ...(rewards.length > 1
      ? rewards.map(([name, { mean, n, weight, kind }]) => ({
          title: `Reward ${printableLine(name, 60)}`,
          name,
          note: `weight ${weight}${kind === 'group' ? ', of the group' : ''}; mean ${scoreText(mean)} (plain mean, no interval); ${share(n)}`,
        }))
      : []),
    ...metrics.map(([name, { mean, n }]) => ({
      title: `Metric ${printableLine(name, 60)}`,
      name,
      note: `mean ${scoreText(mean)} (plain mean, no interval); ${share(n)}`,
    })),
  ]
  const rest = parts.length - mostComponents
  return [
    of(
      'Reward',
      values.reward,
      `Mean of what was scored ${scoreText(reward.observed)}; ${share(reward.n)}. The estimate with its interval is above.`,
    ),
    ...parts
      .slice(0, mostComponents)
      .map(({ title, name, note }) => of(title, values.components[name] ?? [], note)),
    values.turns.length > 0 &&
      of(
        'Turns',
        values.turns,
        `Model calls of the agent; mean ${scoreText(summary.turns.mean, 1)} (plain mean, no interval), p95 ${scoreText(summary.turns.p95, 0)}, max ${scoreText(summary.turns.max, 0)}; n = ${plural(values.turns.length, 'attempt')}`,
      ),
    rest > 0 &&
      card(
        'More',
        '',
        html`<p>${plural(rest, 'more component')} ${rest === 1 ? 'is' : 'are'} in the table below.</p>`,
      ),
  ]
}

function provenance({ run }: RunSummary): Markup {
  const { environment, limits } = run
  const line = (name: string, value: Child) => html`<dt>${name}</dt><dd>${value}</dd>`
  const json = (value: unknown) => printableLine(JSON.stringify(value), 2_000)
  return html`<dl class="facts">
${line('environment', html`${printableLine(`${environment.name} ${environment.version}`)} <code>${environment.digest.slice(0, 16)}</code>`)}
${line('rubric', html`<code>${printableLine(run.rubric, 80)}</code>`)}
${Object.entries(run.seats).map(([seat, { policy, harness, endpoint, sampling }]) =>
  line(
    `seat ${printableLine(seat, 40)}`,
    printableLine(
      `${policy} in ${harness}${endpoint === undefined ? '' : ` at ${endpoint}`}${sampling === undefined ? '' : `, ${JSON.stringify(sampling)}`}`,
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
function reportTable(summary: RunSummary): Markup {
  return html`<table class="report">${reportRows(summary).map(
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
  return html`<a class="skip" href="#explore">To the rollouts</a>
<header class="top"><p class="brand">Quintain <span>report</span></p>
<h1>${printableLine(`${run.environment.name} ${run.environment.version}`, 120)}</h1>
<p class="lead">${runTitle(summary).split(' · ').slice(1).join(' · ')}</p></header>
<main>
${unfinished !== undefined && html`<p class="banner">${unfinished}</p>`}
${warnings.map(({ message }) => html`<p class="banner">${printableLine(message, 400)}</p>`)}
<div class="tiles">${run.environment.success && estimateTile('Success', success, again.success, repeated)}${estimateTile('Mean reward', reward, again.reward, repeated)}${ordersTile(summary)}${spendingTile(summary)}</div>
<div class="cards">${endingsCard(summary)}${distributionCards(summary, values)}${timeCard(summary, values)}</div>
${explorer(summary, said)}
<section class="card wide"><h2>The report in full</h2><p class="note">Line by line what <code>npx quintain report ${printableLine(run.dir)}</code> prints.</p>${reportTable(summary)}</section>
<section class="card wide"><h2>What ran</h2>${provenance(summary)}</section>
</main>
<footer><p>Made by Quintain ${printableLine(run.quintain, 40)} from the run's publishable records. This file loads nothing and sends nothing.</p></footer>
`
}
