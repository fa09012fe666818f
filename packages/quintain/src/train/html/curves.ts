import { axisText } from '../../report/html/charts.ts'
import { html, type Markup } from '../../report/html/markup.ts'
import { scoreText } from '../../report/index.ts'

export interface Point {
  x: number
  y: number
}

/** A line of a chart. */
export interface Curve {
  name: string
  /** A class of the style sheet that colours the line: `one` to `four`, and `faint` for what lies behind. */
  tone: 'one' | 'two' | 'three' | 'four' | 'faint'
  points: readonly Point[]
  /** Ends of the interval of each point that has one. */
  band?: readonly { x: number; low: number; high: number }[]
  dashed?: boolean
  /** Mark each point, with what it says to whoever points at it. */
  said?: readonly string[]
}

export interface CurveChart {
  /** What the picture shows, for those who cannot see it. */
  label: string
  curves: readonly Curve[]
  /** Ends of the axis of steps. */
  steps: readonly [number, number]
  /** Steps at which something is marked, with what. */
  marks?: readonly { x: number; says: string }[]
  /** What the vertical axis holds in any case. */
  holds?: readonly number[]
  height?: number
}

// As in the report's pictures: positions in per cent and type in pixels, sharp at any width without a script. Lines lie in an
// inner picture that is stretched, with strokes that are not.
const inner = { width: 1000, height: 100 }
const top = 16

/** Lines over the steps of a training, with bands, marks and a grid. */
export function curveChart({
  label,
  curves,
  steps,
  marks = [],
  holds = [],
  height = 150,
}: CurveChart): Markup {
  const { low, high, ticks } = axisOf([
    ...holds,
    ...curves.flatMap(({ points, band = [] }) => [
      ...points.map(({ y }) => y),
      ...band.flatMap((one) => [one.low, one.high]),
    ]),
  ])
  const [first, last] = steps
  const across = (x: number) => (last > first ? (x - first) / (last - first) : 0.5)
  const up = (y: number) => (y - low) / (high - low)
  const x = (value: number) => `${Number((100 * across(value)).toFixed(3))}%`
  const y = (value: number) => (top + height * (1 - up(value))).toFixed(1)
  const at = (point: Point) =>
    `${(inner.width * across(point.x)).toFixed(1)},${(inner.height * (1 - up(point.y))).toFixed(2)}`
  const grid = ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${y(tick)}" y2="${y(tick)}"/><text class="axis" x="0" y="${(Number(y(tick)) - 3).toFixed(1)}">${axisText(tick)}</text>`,
  )
  const bands = curves.map(
    ({ band = [], tone }) =>
      band.length > 1 &&
      html`<polygon class="area ${tone}" points="${[
        ...band.map((one) => at({ x: one.x, y: one.high })),
        ...band.toReversed().map((one) => at({ x: one.x, y: one.low })),
      ].join(' ')}"/>`,
  )
  const lines = curves.map(
    ({ points, tone, dashed = false }) =>
      points.length > 1 &&
      html`<polyline class="curve ${tone}${dashed && ' dashed'}" points="${points.map(at).join(' ')}"/>`,
  )
  const whiskers = curves.map(
    ({ band = [], tone }) =>
      band.length === 1 &&
      band.map(
        (one) =>
          html`<line class="curve ${tone}" x1="${x(one.x)}" x2="${x(one.x)}" y1="${y(one.low)}" y2="${y(one.high)}"/>`,
      ),
  )
  const dots = curves.map(({ points, tone, said }) =>
    said === undefined
      ? points.length === 1 && dot(points[0]!, tone, undefined)
      : points.map((point, i) => dot(point, tone, said[i])),
  )
  function dot(point: Point, tone: string, says: string | undefined): Markup {
    return html`<circle class="dot ${tone}" cx="${x(point.x)}" cy="${y(point.y)}" r="3.2">${says !== undefined && html`<title>${says}</title>`}</circle>`
  }
  const marked = marks.map(
    (mark) =>
      html`<line class="alarm" x1="${x(mark.x)}" x2="${x(mark.x)}" y1="${top}" y2="${top + height}"><title>${mark.says}</title></line>`,
  )
  return html`<svg class="chart curves" role="img" aria-label="${label}" width="100%" height="${top + height + 24}">${grid}
<svg x="0" y="${top}" width="100%" height="${height}" viewBox="0 0 ${inner.width} ${inner.height}" preserveAspectRatio="none">${bands}${lines}</svg>${marked}${whiskers}${dots}
<text class="axis" x="0" y="${top + height + 18}">step ${first}</text><text class="axis end" x="100%" y="${top + height + 18}">${last}</text></svg>`
}

/** Names of the lines of a chart, in their colours. */
export function curveLegend(curves: readonly Curve[]): Markup {
  return html`<ul class="legend">${curves.map(
    ({ name, tone, dashed = false, band, points }) =>
      html`<li><svg aria-hidden="true" width="22" height="10">${band !== undefined && html`<rect class="area ${tone}" width="22" height="10"/>`}<line class="curve ${tone}${dashed && ' dashed'}" x1="0" x2="22" y1="5" y2="5"/></svg> ${name}${points.length > 0 && html` <span class="note">${scoreText(points.at(-1)?.y ?? null)}</span>`}</li>`,
  )}</ul>`
}

/** An axis that holds all values, with its ends and three to six ticks on round numbers. */
export function axisOf(values: readonly number[]): { low: number; high: number; ticks: number[] } {
  const known = values.filter((value) => Number.isFinite(value))
  if (known.length === 0) return { low: 0, high: 1, ticks: [0, 0.5, 1] }
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const largest = Math.max(Math.abs(least), Math.abs(most))
  // A flat line lies in something of its size, and what differs by rounding alone is flat.
  const room = most - least > 1e-9 * largest ? Math.max(most - least, 1e-12) : Math.max(largest || 1, 1e-12)
  const raw = room / 4
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw) ?? 10)
  const from = Math.floor(least / step)
  const to = Math.max(from + 1, Math.ceil(most / step))
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => Number(((from + i) * step).toPrecision(12)))
  return { low: from * step, high: to * step, ticks }
}
