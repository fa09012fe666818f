import { countText, durationText, plural, scoreText, shareText } from '../number-text.ts'
import { printableLine } from '../printable.ts'
import type { RunSummary } from '../summarize.ts'
import { triesText } from '../tries.ts'
import { type Count, countBars, histogramChart, smallInterval, type Tail, tailsChart } from './charts.ts'
import type { Distributions } from './distributions.ts'
import { decades, histogram } from './histogram.ts'
import { type Child, html, type Markup } from './markup.ts'

/** Distributions of components that are drawn; more are in the table of the report. */
const mostComponents = 12

function card(title: string, note: Child, body: Child, shape: '' | 'wide' | 'tall' = ''): Markup {
  return html`<section class="card ${shape}"><h3>${title}</h3>${note !== '' && html`<p class="note">${note}</p>`}${body}</section>\n`
}

/** pass@k and pass^k of a repeated run; nothing where there are none. */
export function triesCard({ tries }: RunSummary): Child {
  if (tries === null) return undefined
  const cell = (estimate: (typeof tries.passAtK)[number] | undefined) =>
    estimate !== undefined &&
    html`<td>${triesText([estimate]).replace(/^\d+: /, '')}${smallInterval(estimate.value, estimate.interval)}</td>`
  const lines = tries.passAtK.map(
    (any, i) => html`<tr><th scope="row">${any.k}</th>${cell(any)}${cell(tries.passHatK[i])}</tr>`,
  )
  return card(
    'Repeated tries',
    `pass@k: at least one of k tries succeeds; pass^k: all of them do. 95 %, ${tries.method}, ${tries.scope}; n = ${plural(tries.tasks, 'task')} of at least ${plural(tries.least, 'scored try', 'scored tries')}.`,
    html`<table class="plain tries"><tr><th scope="col">k</th><th scope="col">pass@k</th><th scope="col">pass^k</th></tr>${lines}</table>`,
  )
}

/** Times of rollouts, model calls, waiting and grading: their percentiles, and what their tails look like. */
export function timeCard({ time }: RunSummary, values: Distributions): Markup {
  // Whoever imported a run from a file that tells no time has none, and zero would be a claim.
  if (!((time.rollout.max ?? 0) > 0))
    return card('Time', '', html`<p class="empty">No time is recorded.</p>`, 'wide')
  const all: Tail[] = [
    { name: 'rollout', values: values.rollout, ...time.rollout },
    { name: 'model', values: values.model, ...time.model },
    { name: 'waiting', values: values.wait, ...time.wait },
    { name: 'grading', values: values.grading, ...time.grading },
  ]
  const shown = all.filter(({ name, max }) => name === 'rollout' || name === 'grading' || (max ?? 0) >= 0.05)
  const heads = ['p50', 'p95', 'p99', 'max'].map((name) => html`<th scope="col" class="num">${name}</th>`)
  const lines = shown.map(({ name, p50, p95, p99, max }) => {
    const cells = [p50, p95, p99, max].map((ms) => html`<td class="num">${durationText(ms)}</td>`)
    return html`<tr><th scope="row">${name}</th>${cells}</tr>`
  })
  return card(
    'Time and its tail',
    `Percentiles of ${plural(values.rollout.length, 'attempt')} that count (interpolated between order statistics, no interval). Log axis; bars by the root of the count, so that the tail shows; the lines are p50, p95 and, dashed, p99. Waiting is queue and back-off, which is not counted against the agent.`,
    html`${tailsChart(shown, decades(shown.map((tail) => tail.values)))}<table class="plain"><tr><th scope="col"><span class="hidden">kind</span></th>${heads}</tr>${lines}</table>`,
    'wide',
  )
}

/** Outcomes, faults by owner, and reasons of missing scores, as counts. */
export function endingsCard(summary: RunSummary, mayBeTall: boolean): Markup {
  const { outcomes, faults, unscored, orders, status, agentErrors = [] } = summary
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
  const lines = counts.length + 2 * examples.length + unscored.length + agentErrors.length
  return card(
    'How rollouts ended',
    `Counts of ${plural(orders, 'order')}. An outcome is the agent's own doing and is scored; a fault is nobody's score, told by its owner.`,
    html`${countBars(counts, orders)}${
      agentErrors.length > 0 &&
      html`<h4>Why the agent failed, the commonest first</h4><ul class="examples">${agentErrors.map(({ reason, count }) => html`<li><b>${String(count)}</b> ${printableLine(reason, 300)}</li>`)}</ul>`
    }${
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
    mayBeTall && lines > 6 ? 'tall' : '',
  )
}

/** The distribution of the reward, of each component and metric, and of turns. */
export function distributionCards(summary: RunSummary, values: Distributions): Child[] {
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
      `Mean of what was scored ${scoreText(reward.observed)}; ${share(reward.n)}. The headline is above.`,
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
