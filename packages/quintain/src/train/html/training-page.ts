import { domainOf, intervalBar } from '../../report/html/charts.ts'
import { type Child, html, type Markup } from '../../report/html/markup.ts'
import { countText, durationText, plural, printableLine, scoreText } from '../../report/index.ts'
import type { EvaluationRecord, StepLine, StepRecord } from '../records.ts'
import type { BeforeAfter, TrainingSummary } from '../training-summary.ts'
import {
  changeText,
  columnsOf,
  environmentText,
  measuredText,
  pairsNote,
  trainingTitle,
  verdictTexts,
  wayOf,
} from '../training-text.ts'
import { watches } from '../watches.ts'
import { evaluationCurve, smoothCurve, stepCurves } from './curve-data.ts'
import { type Curve, curveChart, curveLegend } from './curves.ts'
import { algorithmFacts, type Fact, settingFacts } from './what-ran.ts'

/** All of the page inside `body`. It has no script: curves are pictures. */
export function trainingBody(summary: TrainingSummary, history: readonly StepLine[]): Markup {
  const { end } = summary
  const steps = history.filter((line): line is StepRecord => line.kind === 'step')
  const evaluations = history.filter((line): line is EvaluationRecord => line.kind === 'evaluation')
  const lead = trainingTitle(summary).slice(`${environmentText(summary)} · `.length)
  return html`<header class="top"><p class="brand">Quintain <span>training</span></p>
<h1>${environmentText(summary)}</h1>
<p class="lead">${lead}</p></header>
<main>
${end === null && html`<p class="banner">The training has not ended, or was killed: this is what was written down until now.</p>`}
${end !== null && end.reason !== 'done' && html`<p class="banner">${printableLine(end.says, 600)}</p>`}
${summary.issues.map(({ file, detail }) => html`<p class="banner">${printableLine(`${file}, ${detail}`, 300)}</p>`)}
${outcome(summary)}
${alarmsCard(summary)}
<div class="cards">${charts(summary, steps, evaluations)}</div>
${evaluationsCard(evaluations)}
${settings(summary)}
</main>
<footer><p>Made by Quintain ${printableLine(summary.training.quintain, 40)} from the records of the training. This file loads nothing and sends nothing.</p></footer>
`
}

/** Before and after: tiles on one axis, the table, and the verdict in words. */
function outcome(summary: TrainingSummary): Child {
  const { pairs, verdict } = summary
  if (pairs.length === 0) return undefined
  const note = pairsNote(summary)
  const [before, after] = columnsOf(summary)
  const lines = pairs.map(
    (pair) =>
      html`<tr><th scope="row">${wayOf(pair)}</th><td>${measuredText(pair.before)}</td><td>${measuredText(pair.after)}</td><td>${changeText(pair)}</td></tr>`,
  )
  return html`<div class="tiles">${pairs.map((pair) => tile(pair, [before, after]))}</div>
<section class="card wide"><h2>Before and after</h2><p class="verdict-line">${verdictTexts[verdict]}.</p>
<div class="scrolled"><table class="plain"><tr><th scope="col"><span class="hidden">way of playing</span></th><th scope="col">${before}</th><th scope="col">${after}</th><th scope="col">change</th></tr>${lines}</table></div>
${note !== undefined && html`<p class="note">${note}</p>`}</section>\n`
}

function tile(pair: BeforeAfter, [nameBefore, nameAfter]: readonly [string, string]): Markup {
  const { before, after } = pair
  const measureOf = ({ success, reward }: EvaluationRecord) => success ?? reward
  const domain = domainOf([before, after].flatMap((one) => [measureOf(one), ...(one.interval ?? [])]))
  const bar = (name: string, one: EvaluationRecord) => {
    const value = measureOf(one)
    return (
      value !== null &&
      html`<p class="note">${name}</p>${intervalBar({ value, interval: one.interval, domain, label: `${name} ${measuredText(one)}` })}`
    )
  }
  return html`<section class="tile"><h2>Held-out ${after.success === null ? 'reward' : 'success'}, ${wayOf(pair)}</h2>
<p class="big">${scoreText(measureOf(after))} <span class="range">from ${scoreText(measureOf(before))}</span></p>
${bar(nameBefore, before)}${bar(nameAfter, after)}</section>\n`
}

function alarmsCard({ alarms, standing }: TrainingSummary): Child {
  const rung = new Set(alarms.map(({ watch }) => watch))
  const still = new Map(standing.map((alarm) => [alarm.watch, alarm.says]))
  const lastRang = new Map(alarms.map(({ watch, step }) => [watch, step]))
  const atEnd = standing.filter(({ watch }) => !rung.has(watch))
  if (alarms.length + atEnd.length === 0)
    return html`<section class="card wide"><h2>Alarms</h2><p class="note">None of ${plural(watches.length, 'watch', 'watches')} rang: ${watches.map(({ name }) => name).join(', ')}.</p></section>\n`
  return html`<section class="card wide"><h2>Alarms</h2><ul class="alarms">${alarms.map(
    ({ step, watch, says }) => {
      const now = lastRang.get(watch) === step ? still.get(watch) : undefined
      return html`<li><b>${printableLine(watch, 40)}</b> at step ${step}${now !== undefined && ', and still so at the end'}: ${printableLine(now ?? says, 800)}${thresholdOf(watch)}</li>`
    },
  )}${atEnd.map(({ watch, says }) => html`<li><b>${watch}</b> at the end: ${printableLine(says, 800)}${thresholdOf(watch)}</li>`)}</ul></section>\n`
}

function thresholdOf(name: string): Child {
  const watch = watches.find((one) => one.name === name)
  return (
    watch !== undefined &&
    html` <span class="note">Threshold ${watch.threshold}: ${watch.of}; ${watch.because}.</span>`
  )
}

/** A card with a chart, or nothing where no curve has a point. */
type Draw = (
  title: string,
  note: string,
  curves: readonly Curve[],
  more?: { wide?: boolean; holds?: readonly number[] },
) => Child

function charts(
  summary: TrainingSummary,
  steps: readonly StepRecord[],
  evaluations: readonly EvaluationRecord[],
): Child[] {
  const first = Math.min(evaluations[0]?.step ?? 1, steps[0]?.step ?? 1)
  const last = Math.max(summary.steps, ...evaluations.map(({ step }) => step), first + 1)
  const marks = summary.alarms.map(({ step, watch, says }) => ({
    x: step,
    says: printableLine(`${watch}: ${says}`, 300),
  }))
  const draw: Draw = (title, note, curves, { wide = false, holds } = {}) =>
    curves.length > 0 &&
    html`<section class="card${wide && ' wide'}"><h3>${title}</h3><p class="note">${note}</p>${curveChart({
      label: `${title} over the steps: ${curves.map(({ name, points }) => `${name} from ${scoreText(points[0]?.y ?? null)} to ${scoreText(points.at(-1)?.y ?? null)}`).join('; ')}`,
      curves,
      steps: [first, last],
      marks,
      ...(holds === undefined ? {} : { holds }),
      ...(wide ? { height: 240 } : {}),
    })}${curveLegend(curves)}</section>\n`
  return [
    draw('Success', successNote(evaluations), successCurves(steps, evaluations), {
      wide: true,
      holds: [0, 1],
    }),
    draw(
      'Reward of the rollouts',
      'Mean of what was scored in each step.',
      stepCurves(steps, { name: 'reward', tone: 'one', measure: ({ rewardMean }) => rewardMean }),
    ),
    draw(
      'Entropy',
      'Nats a token under the learner. Near 0 the members of a group are all alike.',
      stepCurves(steps, { name: 'entropy', tone: 'two', measure: ({ entropy }) => entropy }),
      { holds: [0] },
    ),
    draw(
      'Shares of rollouts, and dead groups',
      'Dead groups: all members earned the same. Cut: ended for their length.',
      [
        ...smoothCurve(steps, { name: 'dead groups', tone: 'one', measure: ({ deadGroups }) => deadGroups }),
        ...smoothCurve(steps, { name: 'cut', tone: 'three', measure: ({ truncated }) => truncated }),
        ...smoothCurve(steps, { name: 'malformed', tone: 'four', measure: ({ malformed }) => malformed }),
      ],
      { holds: [0, 1] },
    ),
    draw(
      'Length',
      'Tokens that a rollout samples, over all of its turns.',
      stepCurves(steps, { name: 'tokens', tone: 'three', measure: ({ tokensMean }) => tokensMean }),
      { holds: [0] },
    ),
    draw(
      'Sampler against learner',
      'Half the mean square of the log-ratio of the tokens that were trained on. Of equal weights it is rounding; more is staleness.',
      stepCurves(steps, { name: 'mismatch', tone: 'four', measure: ({ mismatch }) => mismatch?.k2 ?? null }),
      { holds: [0] },
    ),
    draw(
      'Divergence from the reference',
      'Nats a token.',
      stepCurves(steps, { name: 'KL', tone: 'four', measure: ({ kl }) => kl }),
      { holds: [0] },
    ),
    draw(
      'Gradient',
      'Its norm before it was clipped.',
      stepCurves(steps, { name: 'norm', tone: 'two', measure: ({ gradNorm }) => gradNorm }),
      { holds: [0] },
    ),
  ]
}

function successCurves(steps: readonly StepRecord[], evaluations: readonly EvaluationRecord[]): Curve[] {
  const of = (role: EvaluationRecord['role'], temperature: number) =>
    evaluations.filter((one) => one.role === role && one.temperature === temperature)
  const held = evaluations.some(({ role }) => role === 'validation') ? 'validation' : 'test'
  return [
    ...stepCurves(steps, { name: 'rollouts', tone: 'faint', measure: ({ success }) => success }).slice(0, 1),
    ...evaluationCurve(of(held, 1), { name: `${held} tasks, temperature 1`, tone: 'one' }),
    ...evaluationCurve(of(held, 0), { name: `${held} tasks, greedy`, tone: 'two' }),
    ...evaluationCurve(of('train', 1), { name: 'train tasks, temperature 1', tone: 'three', dashed: true }),
    ...smoothCurve(steps, { name: 'shadow verifier', tone: 'four', measure: ({ shadow }) => shadow }),
  ]
}

function successNote(evaluations: readonly EvaluationRecord[]): string {
  if (evaluations.length === 0) return 'Of the rollouts of each step; nothing was held out.'
  return 'Held-out tasks are never trained on. Bands are 95 % for new tasks; the faint line is the success of the rollouts themselves, which are of train tasks.'
}

function evaluationsCard(evaluations: readonly EvaluationRecord[]): Child {
  if (evaluations.length === 0) return undefined
  const lines = evaluations.map(
    (one) =>
      html`<tr><td class="num">${one.step}</td><td>${one.role}</td><td>${wayOf(one)}</td><td>${measuredText(one)}</td><td class="num">${countText(one.tasks)}</td><td class="num">${countText(one.scored)} of ${countText(one.rollouts)}</td><td><code>${printableLine(one.run, 80)}</code></td></tr>`,
  )
  return html`<section class="card wide"><details><summary><h2>Evaluations</h2></summary><p class="note">Each is an ordinary run: <code>npx quintain report RUN</code>. 95 %, new tasks.</p>
<div class="scrolled"><table class="plain"><tr><th scope="col" class="num">step</th><th scope="col">tasks</th><th scope="col">way</th><th scope="col">success</th><th scope="col" class="num">tasks</th><th scope="col" class="num">scored</th><th scope="col">run</th></tr>${lines}</table></div></details></section>\n`
}

/** Sizes of a model whose names are those of code. */
const sizeWords: Readonly<Record<string, string>> = { feedForward: 'feed-forward' }

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function settings(summary: TrainingSummary): Markup {
  const { training, environment, dir, planned, rollouts, trainedTokens, elapsedS, measuringS, end } = summary
  const { algorithm, engine, from } = training
  const said = Object.entries(environment.options).map(([name, value]) => `${name}=${valueText(value)}`)
  const spent = [
    durationText(1000 * elapsedS),
    ...(measuringS > 0 ? [`${durationText(1000 * measuringS)} of measurements`] : []),
  ]
  const line = (name: string, value: Child) => html`<dt>${name}</dt><dd>${value}</dd>`
  const lines = (facts: readonly Fact[]) => facts.map(([name, says]) => line(name, printableLine(says, 400)))
  const sizes = Object.entries(engine.model.sizes).map(
    ([name, size]) => `${sizeWords[name] ?? name} ${countText(size)}`,
  )
  return html`<section class="card wide"><h2>What ran</h2><dl class="facts">
${line('folder', html`<code>${printableLine(dir, 400)}</code>`)}
${line('environment', printableLine(`${environment.name} ${environment.version}${said.length === 0 ? '' : `, with ${said.join(', ')}`}`, 1_000))}
${lines(algorithmFacts(algorithm))}
${line('engine', printableLine(`${engine.name}: ${countText(engine.model.parameters)} parameters (${sizes.join(', ')})`, 400))}
${line('began from', from === null ? 'random weights' : html`<code>${printableLine(from.path, 400)}</code> ${from.digest.slice(0, 16)}`)}
${lines(settingFacts(training, planned))}
${line('seed', html`<code>${printableLine(training.seed, 80)}</code>`)}
${line('spent', `${plural(rollouts, 'rollout')}, ${plural(trainedTokens, 'trained token')}, ${spent.join(', and ')}`)}
${end?.best != null && line('best checkpoint', html`<code>${printableLine(end.best, 200)}</code>`)}
${line('created', `${printableLine(training.created, 40)} by Quintain ${printableLine(training.quintain, 40)}`)}
</dl></section>\n`
}
