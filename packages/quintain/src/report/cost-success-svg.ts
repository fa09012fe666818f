import {
  type Axis,
  type CostSuccess,
  costAxis,
  labelOf,
  placedPoints,
  pointText,
  valueAxis,
} from './cost-success.ts'
import { dollarText, scoreText } from './number-text.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The beginning of every picture of ours: a file that begins so may be overwritten. */
export const pictureKind = {
  name: 'picture',
  mark: '<svg xmlns="http://www.w3.org/2000/svg" data-quintain="cost-success"',
} as const

/** Text of others as text of a picture: no tag or attribute comes out of it. */
function svgText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char]!)
}

const ticks = (axis: Axis, many: number): number[] =>
  Array.from({ length: many + 1 }, (_, i) => {
    const share = i / many
    return axis.log ? axis.from * (axis.to / axis.from) ** share : axis.from + (axis.to - axis.from) * share
  })

const round = (value: number): number => Math.round(value * 10) / 10

/**
 * Cost against success as an SVG that stands alone or inside an HTML page: no script, no style from outside, the colour
 * of the text round it. A dot for each run with its interval as whiskers, a line through those that no other beats (the
 * Pareto frontier), and in words what is unknown and therefore not in the picture.
 */
export function costSuccessSvg(
  { measure, points }: CostSuccess,
  { width = 640, height = 400 }: { width?: number; height?: number } = {},
): string {
  const placed = placedPoints(points)
  const legendHeight = 16 * points.length + 12
  const [left, right, top, bottom] = [56, 40, 36, height - 44]
  const parts: string[] = []
  const text = (x: number, y: number, words: string, extra = '') =>
    parts.push(`<text x="${round(x)}" y="${round(y)}"${extra}>${svgText(words)}</text>`)
  if (placed.length === 0)
    text(left, top + 20, 'No run has both a cost and a headline: nothing can be placed.')
  else {
    const [x, y] = [costAxis(placed), valueAxis(placed, measure)]
    const px = (cost: number) => round(left + x.at(cost) * (width - left - right))
    const py = (value: number) => round(bottom - y.at(value) * (bottom - top))
    for (const value of ticks(y, 4)) {
      parts.push(`<path d="M${left} ${py(value)}H${width - right}" stroke-opacity=".15"/>`)
      text(left - 8, py(value) + 4, scoreText(value, 2), ' text-anchor="end"')
    }
    for (const cost of ticks(x, 4)) text(px(cost), bottom + 16, dollarText(cost), ' text-anchor="middle"')
    parts.push(`<path d="M${left} ${top}V${bottom}H${width - right}"/>`)
    text(
      (left + width - right) / 2,
      bottom + 34,
      `US dollars an order${x.log ? ', log scale' : ''}`,
      ' text-anchor="middle"',
    )
    text(8, 14, measure)
    const frontier = placed.filter((point) => point.frontier).sort((a, b) => a.cost - b.cost)
    if (frontier.length > 1) {
      const line = frontier.map(({ cost, value }) => `${px(cost)},${py(value)}`).join(' ')
      parts.push(`<polyline points="${line}" stroke-dasharray="4 3"/>`)
    }
    for (const point of placed) {
      const [cx, cy] = [px(point.cost), py(point.value)]
      if (point.interval !== null) {
        const [low, high] = [py(point.interval[0]), py(point.interval[1])]
        parts.push(`<path d="M${cx} ${low}V${high}M${cx - 4} ${low}h8M${cx - 4} ${high}h8"/>`)
      }
      const words = `${labelOf(point)}: ${pointText(point, measure)}`
      const fill = point.frontier ? 'currentColor' : 'none'
      parts.push(
        `<circle cx="${cx}" cy="${cy}" r="5" fill="${fill}"><title>${svgText(words)}</title></circle>`,
      )
      text(cx + 9, cy - 7, point.letter, ' font-weight="bold"')
    }
  }
  for (const [at, point] of points.entries()) {
    text(left, height + 12 + 16 * at, `${point.letter}  ${labelOf(point)}: ${pointText(point, measure)}`)
  }
  const drawn = parts
    .map((part) =>
      part.startsWith('<text') ? part.replace('<text', '<text stroke="none" fill="currentColor"') : part,
    )
    .join('\n')
  return `${pictureKind.mark} viewBox="0 0 ${width} ${height + legendHeight}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="none" stroke="currentColor">
<title>${svgText(`Cost against ${measure}`)}</title>
${drawn}
</svg>
`
}
