import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Artefacts, BoxFileContent, Snapshot, SnapshotEntry } from '../core/index.ts'
import { type ArtefactLinks, followLinks } from './artefact-links.ts'

/** A snapshot does not change once it was collected, and is asked about for every box. */
const linksOf = new WeakMap<Snapshot, ArtefactLinks>()

/** What is told of artefacts: names and sizes of what graders get, why they do not get the rest, and a digest of everything. */
export function describeArtefacts(artefacts: Snapshot): Artefacts {
  const { entries, skipped } = artefacts
  const hash = createHash('sha256')
  const frame = (value: string | Uint8Array) => {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    hash.update(`${bytes.length}:`).update(bytes)
  }
  for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    frame(entry.kind)
    frame(entry.path)
    if (entry.kind === 'file') frame(String(entry.mode & 0o777))
    if (entry.kind === 'file') frame(entry.data)
    if (entry.kind === 'link') frame(entry.target)
  }
  const files = artefactFiles(artefacts)
  const { unfollowed } = linksIn(artefacts)
  const isKept = ({ kind, path }: SnapshotEntry) => kind === 'folder' || Object.hasOwn(files, path)
  return {
    digest: hash.digest('hex'),
    entries: entries.filter(isKept).map((entry) => ({
      path: entry.path,
      kind: entry.kind,
      size: entry.kind === 'file' ? entry.data.length : 0,
    })),
    skipped: [
      ...skipped.map(({ path, reason }) => ({ path, reason })),
      ...entries
        .filter((entry) => !isKept(entry))
        .map(({ path }) => ({ path, reason: unfollowed.has(path) ? 'too_large' : 'outside' })),
    ],
  }
}

/**
 * The files of artefacts as a grading box gets them. A link is kept only where it ends at another artefact: one that led
 * elsewhere could stand for a test, or for the gold, in the box in which they are. Nothing in a path of artefacts is
 * special to whoever restores them, so set-user-id bits go too.
 */
export function artefactFiles(artefacts: Snapshot): Record<string, BoxFileContent> {
  const { kept } = linksIn(artefacts)
  const files: Record<string, BoxFileContent> = Object.create(null)
  for (const entry of artefacts.entries) {
    if (entry.kind === 'file') files[entry.path] = { data: entry.data, mode: entry.mode & 0o777 }
    const link = kept.get(entry.path)
    if (entry.kind === 'link' && link !== undefined) files[entry.path] = { link }
  }
  return files
}

function linksIn(artefacts: Snapshot): ArtefactLinks {
  const known = linksOf.get(artefacts) ?? followLinks(artefacts)
  linksOf.set(artefacts, known)
  return known
}

/** The same as a snapshot, folders included. */
export function restorable(artefacts: Snapshot): Snapshot {
  const files = artefactFiles(artefacts)
  return {
    version: 1,
    entries: artefacts.entries.flatMap((entry): SnapshotEntry[] => {
      if (entry.kind === 'folder') return [{ ...entry, mode: (entry.mode & 0o777) | 0o700 }]
      if (entry.kind === 'file') return [{ ...entry, mode: entry.mode & 0o777 }]
      const kept = files[entry.path]
      return typeof kept === 'object' && 'link' in kept ? [{ ...entry, target: kept.link }] : []
    }),
    skipped: [],
  }
}

/** Whether files alone, and the links that are kept, make every folder of it. */
export function isWithoutEmptyFolders(artefacts: Snapshot): boolean {
  const { entries } = artefacts
  const holding = new Set<string>()
  for (const path of Object.keys(artefactFiles(artefacts))) {
    for (let folder = posix.dirname(path); !holding.has(folder); folder = posix.dirname(folder))
      holding.add(folder)
  }
  return entries.every(({ kind, path }) => kind !== 'folder' || holding.has(posix.normalize(`${path}/.`)))
}
