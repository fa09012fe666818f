import type { Difference } from './compare-episode.ts'
import type { EpisodeParity, ParityCell, ParityColumn } from './parity-report.ts'

/** One cell: how many of how many episodes are the same, what was lost by name, what differs. */
export function cellText({ notCarried, equal, lost, losses, differing }: ParityCell): string {
  if (notCarried !== undefined) return `not carried: ${notCarried.join(', ')}`
  const all = equal + lost + differing
  const names = Object.keys(losses).join(', ')
  const parts = [
    ...(differing > 0 ? [`≠ ${differing} of ${all}`] : []),
    ...(equal > 0 || all === 0 ? [`= ${equal}/${all}`] : []),
    ...(lost > 0 ? [lost === all ? `lost: ${names}` : `${lost} lost: ${names}`] : []),
  ]
  return parts.join('; ')
}

function rowsOf({ rows, columns }: EpisodeParity): string[][] {
  return [
    ['environment', 'player', ...columns.map(({ title }) => title)],
    ...rows.map(({ environment, player, cells }) => [
      environment,
      player,
      ...columns.map(({ way }) => cellText(cells.find((cell) => cell.way === way)!)),
    ]),
  ]
}

/** The table for a page: doors only, without the sessions beneath them. */
export function parityMarkdown({ columns, ...parity }: EpisodeParity): string {
  const doors = columns.filter(({ way }) => way !== 'session')
  const [head, ...rows] = rowsOf({ ...parity, columns: doors })
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n')
}

/** The report for people: the table, what each loss is in the door's words, and the first episodes that differ. */
export function episodeParityText(parity: EpisodeParity): string {
  const lines = [...padded(rowsOf(parity)), '']
  lines.push(...columnNotes(parity))
  if (lines.at(-1) !== '') lines.push('')
  for (const note of parity.notes) lines.push(`Note: ${note}`)
  for (const example of examplesOf(parity)) lines.push(example)
  return `${lines.join('\n').trimEnd()}\n`
}

/** What was lost behind each door in the door's own words, and what its protocol has no word for. */
export function columnNotes({ columns }: EpisodeParity): string[] {
  return columns.flatMap(({ title, declared, unsaid }) => [
    ...Object.entries(declared).map(([loss, sentence]) => `${title}, ${loss}: ${sentence}`),
    ...(unsaid.length > 0 ? [`${title} has no word for ${unsaid.join(', ')}.`] : []),
  ])
}

/** The first episode of each cell that differs, with what differs first. */
export function examplesOf({ rows, columns }: EpisodeParity): string[] {
  return rows.flatMap(({ environment, player, cells }) =>
    cells.flatMap(({ way, examples }) => {
      const [first] = examples
      const difference = first?.differences[0]
      if (first === undefined || difference === undefined) return []
      return [
        `≠ ${titleOf(columns, way)}, ${environment}, ${player}, episode ${first.order}${placeOf(difference)}: ${difference.what}: ${cut(difference.recorded)} in the engine, ${cut(difference.given)} behind the door`,
      ]
    }),
  )
}

function titleOf(columns: readonly ParityColumn[], way: string): string {
  return columns.find((column) => column.way === way)?.title ?? way
}

function placeOf({ move, call }: Difference): string {
  if (move === undefined) return ''
  return call === undefined ? `, move ${move + 1}` : `, move ${move + 1}, call ${call + 1}`
}

/** Agents read it, so it holds no secret; it may be long, and hold anything that a terminal obeys. */
function cut(text: string): string {
  return JSON.stringify(text.length <= 160 ? text : `${text.slice(0, 160)}…`)
}

function padded(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
