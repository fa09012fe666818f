import type { EpisodeParity, ParityColumn } from './parity-report.ts'

/** One report of several, such as those of several environments. */
export function mergeParity(parts: readonly EpisodeParity[]): EpisodeParity {
  const columns = new Map<string, ParityColumn>()
  for (const column of parts.flatMap((part) => part.columns)) {
    const known = columns.get(column.way)
    columns.set(column.way, { ...column, declared: { ...known?.declared, ...column.declared } })
  }
  return {
    rows: parts.flatMap(({ rows }) => rows),
    columns: [...columns.values()],
    notes: parts.flatMap(({ notes }) => notes),
  }
}
