import type { LossName } from '../serve/loss.ts'
import type { Difference, Explained } from './compare-episode.ts'
import type { Way } from './episode-client.ts'

/** An episode that was not the same, and nothing that the door declares explains it. */
export interface Differing {
  order: string
  differences: Difference[]
}

/** What became of the episodes of one player behind one door. */
export interface ParityCell {
  way: Way
  /** Needs of the environment that the door does not carry: nothing was played. */
  notCarried?: string[]
  equal: number
  /** Episodes with a difference, all of which declared losses explain. */
  lost: number
  /** How many of them each loss has a part in. */
  losses: Partial<Record<LossName, number>>
  differing: number
  /** The first few of those. */
  examples: Differing[]
}

export interface ParityRow {
  environment: string
  player: string
  episodes: number
  /** How they ended in the engine. */
  scored: number
  unscored: number
  failed: number
  cells: ParityCell[]
}

export interface ParityColumn {
  way: Way
  title: string
  /** Each loss that was met, in the door's own words. */
  declared: Partial<Record<LossName, string>>
  /** What the protocol has no word for. */
  unsaid: readonly string[]
}

/** What was played again, and how it came out. */
export interface EpisodeParity {
  rows: ParityRow[]
  columns: ParityColumn[]
  /** Players that an environment has not, or cannot play here, and why. */
  notes: string[]
}

/** Episodes that differ without a declared loss, kept of each cell to be shown. */
const mostExamples = 3

/** A cell in which nothing is counted yet. */
export function emptyCell(way: Way): ParityCell {
  return { way, equal: 0, lost: 0, losses: {}, differing: 0, examples: [] }
}

/** Counts an episode into a cell by what was different of it. */
export function countEpisode(cell: ParityCell, order: string, differences: readonly Explained[]): void {
  if (differences.length === 0) {
    cell.equal++
    return
  }
  const unexplained = differences.filter(({ losses }) => losses.length === 0)
  if (unexplained.length > 0) {
    cell.differing++
    if (cell.examples.length < mostExamples)
      cell.examples.push({ order, differences: unexplained.map(({ difference }) => difference) })
    return
  }
  cell.lost++
  for (const loss of new Set(differences.flatMap(({ losses }) => losses)))
    cell.losses[loss] = (cell.losses[loss] ?? 0) + 1
}

/** Whether something was played behind every door that carries it, and nothing differs that is not declared. */
export function isSame({ rows }: EpisodeParity): boolean {
  const cells = rows.flatMap((row) => row.cells)
  return cells.some(({ equal }) => equal > 0) && cells.every(({ differing }) => differing === 0)
}
