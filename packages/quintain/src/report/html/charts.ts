import { countText, durationText, plural, shareText } from '../number-text.ts'
import { printableLine } from '../printable.ts'
import { type Bin, logHistogram } from './histogram.ts'
import { html, type Markup } from './markup.ts'

// Pictures are SVG without a view box: positions in per cent, heights and type in pixels, so that they are sharp and legible
// at any width without a script. Colours are classes of the style sheet, which knows light, dark and print.

const percent = (share: number) => `${Number((100 * share).toFixed(3))}%`

/** Where a value lies between two others, from 0 to 1. */
function placeIn(value: number, [low, high]: readonly [number, number]): number {
  const span = high / 2 - low / 2
  return span > 0 ? Math.min(1, Math.max(0, (value / 2 - low / 2) / span)) : 0.5
}

export interface IntervalBar {
  value: number
  interval: readonly [number, number] | null
  /** A second, thinner interval: these tasks again. */
  again?: readonly [number, number] | null
  domain: readonly [number, number]
  label: string
}

/** An estimate on its axis: a band for the interval, a tick for the value. */
export function intervalBar({ value, interval, again, domain, label }: IntervalBar): Markup {
  const band = (range: readonly [number, number], top: number, height: number, name: string) => {
    const [from, to] = [placeIn(range[0], domain), placeIn(range[1], domain)]
    return html`<rect class="${name}" x="${percent(from)}" width="${percent(Math.max(0.002, to - from))}" y="${top}" height="${height}" rx="3"/>`
  }
  return html`<svg class="interval" role="img" aria-label="${label}" width="100%" height="38">
<rect class="track" x="0" width="100%" y="9" height="6" rx="3"/>
${interval && band(interval, 3, 18, 'band')}${again && band(again, 10, 4, 'band-again')}
<rect class="tick" x="${percent(placeIn(value, domain))}" y="1" width="2" height="22" rx="1" transform="translate(-1 0)"/>
<text class="axis" x="0" y="36">${axisText(domain[0])}</text><text class="axis end" x="100%" y="36">${axisText(domain[1])}</text>
</svg>`
}

/** The same for a line of a table, on an axis from 0 to 1 that the table shares. */
export function smallInterval(value: number, interval: readonly [number, number] | null): Markup {
  const domain = [0, 1] as const
  const [low, high] = interval ?? [value, value]
  const [from, to] = [placeIn(low, domain), placeIn(high, domain)]
  return html`<svg class="small" aria-hidden="true" width="100%" height="14"><rect class="track" width="100%" y="4" height="6" rx="3"/><rect class="band" x="${percent(from)}" width="${percent(to - from)}" y="2" height="10" rx="2"/><rect class="tick" x="${percent(placeIn(value, domain))}" width="2" height="14" rx="1" transform="translate(-1 0)"/></svg>`
}

/** A number at an axis: as short as it can be. */
export function axisText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value)
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3
    ? value.toExponential(1)
    : String(Number(value.toPrecision(3)))
}

/** Bars of a distribution, with the ends of its axis and the tallest count. */
export function histogramChart(
  bins: readonly Bin[],
  label: string,
  text: (value: number) => string = axisText,
): Markup {
  const height = 96
  const most = Math.max(1, ...bins.map(({ count }) => count))
  const single = bins.every(({ from, to }) => from === to)
  const width = 1 / bins.length
  const total = bins.reduce((sum, { count }) => sum + count, 0)
  const gap = single ? 0.18 : 0.04
  const bars = bins.map(({ from, to, count }, i) => {
    if (count === 0) return undefined
    // A bar of one in ten thousand is a bar all the same.
    const tall = Math.max(2, (count / most) * height)
    const range = from === to ? text(from) : `${text(from)} to ${text(to)}`
    return html`<rect class="bar" x="${percent(width * (i + gap / 2))}" width="${percent(width * (1 - gap))}" y="${(14 + height - tall).toFixed(1)}" height="${tall.toFixed(1)}" rx="1.5"><title>${range}: ${countText(count)} (${shareText(count / total)})</title></rect>`
  })
  // As many labels as a narrow screen has room for.
  const every = Math.ceil(bins.length / 6)
  const labels = single
    ? bins.map(({ from, count }, i) =>
        i % every === 0
          ? html`<text class="axis middle" x="${percent(width * (i + 0.5))}" y="${height + 30}">${text(from)}</text>${
              bins.length <= 6 &&
              html`<text class="axis middle" x="${percent(width * (i + 0.5))}" y="${(10 + height - Math.max(2, (count / most) * height)).toFixed(1)}">${countText(count)}</text>`
            }`
          : undefined,
      )
    : html`<text class="axis" x="0" y="${height + 30}">${text(bins[0]?.from ?? 0)}</text><text class="axis end" x="100%" y="${height + 30}">${text(bins.at(-1)?.to ?? 0)}</text><text class="axis end" x="100%" y="10">tallest bar ${countText(most)}</text>`
  return html`<svg class="chart" role="img" aria-label="${label}" width="100%" height="${height + 36}">
<line class="rule" x1="0" x2="100%" y1="${height + 14.5}" y2="${height + 14.5}"/>${bars}${labels}</svg>`
}

export interface Tail {
  name: string
  values: ArrayLike<number>
  p50: number | null
  p95: number | null
  p99: number | null
  max: number | null
}

/** Times of several kinds on one logarithmic axis, with the middle and the tail marked. */
export function tailsChart(tails: readonly Tail[], exponents: readonly [number, number]): Markup {
  const [from, to] = exponents
  const row = 62
  const at = (ms: number) =>
    Math.min(1, Math.max(0, (Math.log10(Math.max(ms, 10 ** from)) - from) / (to - from)))
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const bottom = tails.length * row
  const every = Math.ceil(ticks.length / 7)
  const grid = ticks.map((exponent, i) => {
    const x = percent(i / (to - from))
    const anchor = i === 0 ? '' : i === ticks.length - 1 ? ' end' : ' middle'
    return html`<line class="grid" x1="${x}" x2="${x}" y1="0" y2="${bottom + 4}"/>${
      (i % every === 0 || i === ticks.length - 1) &&
      html`<text class="axis${anchor}" x="${x}" y="${bottom + 20}">${durationText(10 ** exponent)}</text>`
    }`
  })
  const rows = tails.map(({ name, values, p50, p95, p99 }, i) => {
    const bins = logHistogram(values, exponents, 72)
    const most = Math.max(1, ...bins.map(({ count }) => count))
    const floor = (i + 1) * row
    const bars = bins.map(({ from: low, to: high, count }, k) => {
      if (count === 0) return undefined
      // By the root, so that one attempt in a thousand still shows beside the many.
      const tall = Math.max(1.5, Math.sqrt(count / most) * (row - 22))
      return html`<rect class="bar" x="${percent(k / bins.length)}" width="${percent(0.92 / bins.length)}" y="${(floor - tall).toFixed(1)}" height="${tall.toFixed(1)}"><title>${name}, ${durationText(low)} to ${durationText(high)}: ${countText(count)}</title></rect>`
    })
    const marks = (
      [
        ['p50', p50],
        ['p95', p95],
        ['p99', p99],
      ] as const
    ).map(
      ([quantile, value]) =>
        value !== null &&
        html`<line class="mark ${quantile}" x1="${percent(at(value))}" x2="${percent(at(value))}" y1="${floor - row + 18}" y2="${floor}"><title>${name} ${quantile}: ${durationText(value)}</title></line>`,
    )
    return html`<line class="rule" x1="0" x2="100%" y1="${floor + 0.5}" y2="${floor + 0.5}"/>${bars}${marks}<text class="label" x="0" y="${floor - row + 14}">${name}</text>`
  })
  const said = tails
    .map(
      ({ name, p50, p95, p99 }) =>
        `${name} p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`,
    )
    .join('; ')
  return html`<svg class="chart" role="img" aria-label="${said}" width="100%" height="${bottom + 26}">${grid}${rows}</svg>`
}

export interface Count {
  name: string
  count: number
  /** A class of the style sheet that colours the bar. */
  tone: string
  note?: string
}

/** Counts as lines with bars, against `total`. */
export function countBars(counts: readonly Count[], total: number): Markup {
  return html`<table class="bars">${counts.map(
    ({
      name,
      count,
      tone,
      note,
    }) => html`<tr><th scope="row">${printableLine(name, 80)}${note !== undefined && html` <span class="note">${note}</span>`}</th>
<td class="num">${countText(count)}</td><td class="num note">${shareText(total > 0 ? count / total : null)}</td>
<td class="drawn"><svg aria-hidden="true" width="100%" height="12"><rect class="track" width="100%" height="12" rx="2"/><rect class="${tone}" width="${percent(total > 0 ? Math.max(0.004, count / total) : 0)}" height="12" rx="2"/></svg></td></tr>`,
  )}</table>`
}

/** Disjoint counts that add up to a whole, as one bar. */
export function stackedBar(parts: readonly Count[], total: number, noun: string): Markup {
  let from = 0
  const drawn = parts.map(({ name, count, tone }) => {
    const x = from
    from += count / Math.max(1, total)
    return html`<rect class="${tone}" x="${percent(x)}" width="${percent(count / Math.max(1, total))}" height="14"><title>${name}: ${plural(count, noun)} (${shareText(count / total)})</title></rect>`
  })
  const label = parts.map(({ name, count }) => `${countText(count)} ${name}`).join(', ')
  return html`<svg class="stack" role="img" aria-label="${label}" width="100%" height="14">${drawn}</svg>
<ul class="legend">${parts.map(({ name, count, tone }) => html`<li><svg aria-hidden="true" width="10" height="10"><rect class="${tone}" width="10" height="10" rx="2"/></svg> ${countText(count)} ${name}</li>`)}</ul>`
}

/** The axis on which a mean is drawn: from 0 to 1 where it lies there, else a little more than what is known of it. */
export function domainOf(values: readonly (number | null | undefined)[]): [number, number] {
  const known = values.filter((value): value is number => Number.isFinite(value))
  const low = Math.min(0, ...known)
  const high = Math.max(1, ...known)
  return [low, high]
}
