import type { SnapshotOptions } from '../core/sandbox.ts'

export const defaultReadBytes = 16 * 2 ** 20
/** Of the paths in a snapshot and of what its links say, in all. Paths of 4 KB would else be most of what it holds. */
export const mostNameBytes = 16 * 2 ** 20

/** How much a snapshot may hold; see `SnapshotOptions`. */
export function snapshotLimits(options: SnapshotOptions): { maxBytes: number; maxEntries: number } {
  return { maxBytes: options.maxBytes ?? 64 * 2 ** 20, maxEntries: options.maxEntries ?? 20_000 }
}
