import type { SnapshotOptions } from '../core/sandbox.ts'

export const defaultReadBytes = 16 * 2 ** 20

/** How much a snapshot may hold; see `SnapshotOptions`. */
export function snapshotLimits(options: SnapshotOptions): { maxBytes: number; maxEntries: number } {
  return { maxBytes: options.maxBytes ?? 64 * 2 ** 20, maxEntries: options.maxEntries ?? 20_000 }
}
