import { type CostSuccess, costAxis, labelOf, placedPoints, pointText, valueAxis } from './cost-success.ts'
import { dollarText, scoreText } from './number-text.ts'

const rows = 13

/** Cost against success in characters: a letter for each run, whiskers for its interval, and what is unknown in words. */
export function costSuccessText(
  { measure, points }: CostSuccess,
  { columns = 60 }: { columns?: number } = {},
): string {
  const placed = placedPoints(points)
  const legend = points.map((point) => `  ${point.letter}  ${labelOf(point)}: ${pointText(point, measure)}`)
  if (placed.length < 2) {
    const why = 'No picture of cost against success: fewer than two runs have both numbers.'
    return `  ${why}\n${legend.join('\n')}\n`
  }
  const [x, y] = [costAxis(placed), valueAxis(placed, measure)]
  const grid = Array.from({ length: rows }, () => Array.from({ length: columns }, () => ' '))
  const row = (value: number) => rows - 1 - Math.round(y.at(value) * (rows - 1))
  const taken = new Map<string, true>()
  const columnOf = (cost: number, line: number): number => {
    let column = Math.round(x.at(cost) * (columns - 1))
    // Two runs that lie on each other stand side by side.
    while (taken.has(`${line}/${column}`) && column < columns - 1) column++
    taken.set(`${line}/${column}`, true)
    return column
  }
  const places = placed.map((point) => ({ point, column: columnOf(point.cost, row(point.value)) }))
  for (const { point, column } of places) {
    if (point.interval === null) continue
    for (let line = row(point.interval[1]); line <= row(point.interval[0]); line++) grid[line]![column] = '│'
  }
  for (const { point, column } of places) grid[row(point.value)]![column] = point.letter.slice(-1)
  const label = (line: number) =>
    [0, (rows - 1) / 2, rows - 1].includes(line)
      ? scoreText(y.to - ((y.to - y.from) * line) / (rows - 1), 2)
      : ''
  const lines = grid.map(
    (cells, line) =>
      `  ${label(line).padStart(6)} ${line === rows - 1 ? '└' : '│'}${cells.join('').trimEnd()}`,
  )
  const [least, most] = [dollarText(x.from), dollarText(x.to)]
  const scale = x.log ? 'US dollars an order, log scale' : 'US dollars an order'
  const middle = scale.padStart(Math.floor((columns - least.length - most.length + scale.length) / 2))
  const foot = `${least}${middle}`.padEnd(columns - most.length) + most
  return `  ${measure}\n${lines.join('\n')}\n         ${foot}\n${legend.join('\n')}\n`
}
