import { posix } from 'node:path'
import type { Snapshot, SnapshotEntry } from '../core/index.ts'

/** Links in a row; the kernel follows no more either. */
const mostHops = 40
/** Names in the targets of all links of one set of artefacts that are followed; what is past them is not kept. */
const defaultSteps = 1_000_000

/** What became of the links of some artefacts. */
export interface ArtefactLinks {
  /** What each link that is kept says, by its path as it is in the entries. */
  kept: ReadonlyMap<string, string>
  /** Paths of links that nobody followed: the set had too much to follow. */
  unfollowed: ReadonlySet<string>
  /** Names that were looked at. */
  steps: number
}

interface Place {
  path: string
  parent: Place | undefined
  entry: SnapshotEntry | undefined
  within: Map<string, Place>
}

interface End {
  /** Undefined for a link that leads to no artefact. */
  place: Place | undefined
  hops: number
  /** Its own way goes over a folder that is no artefact itself. */
  leaves: boolean
}

interface Walk {
  link: Place
  target: string
  /** How far the target is read. */
  at: number
  here: Place
  hops: number
  leaves: boolean
}

/**
 * Follows every link once, in time linear in what the targets say, whoever wrote them. A link is kept when each step on
 * its way is an artefact or a folder that holds one. It keeps its own text, unless that goes out of the artefacts and
 * comes back, or is an absolute path over other links: then it leads straight to its end, since what lies outside may be
 * otherwise where it is restored.
 */
export function followLinks({ entries }: Snapshot, mostSteps = defaultSteps): ArtefactLinks {
  const root: Place = { path: '/', parent: undefined, entry: undefined, within: new Map() }
  const places = new Map([['/', root]])
  for (const entry of entries) placeOf(posix.normalize(entry.path), places, root).entry = entry

  const ends = new Map<Place, End>()
  const unfollowed = new Set<string>()
  const kept = new Map<string, string>()
  let steps = 0
  for (const { kind, path } of entries) {
    if (kind !== 'link') continue
    const start = placeOf(posix.normalize(path), places, root)
    follow(start)
    const end = ends.get(start)
    if (end === undefined) unfollowed.add(path)
    else if (end.place?.entry !== undefined) {
      const { entry } = start
      const own = entry?.kind === 'link' ? entry.target : ''
      const isStraight = !end.leaves && (!own.startsWith('/') || end.hops === 1)
      kept.set(path, isStraight ? own : end.place.path)
    }
  }
  return { kept, unfollowed, steps }

  /** Finds the ends of a link and of those on its way; of none when there are no steps left. */
  function follow(start: Place): void {
    if (ends.has(start)) return
    const open = new Set<Place>()
    const walks: Walk[] = []
    const begin = (link: Place) => {
      const target = link.entry?.kind === 'link' ? link.entry.target : ''
      open.add(link)
      walks.push({
        link,
        target,
        at: 0,
        here: target.startsWith('/') ? root : (link.parent ?? root),
        hops: 1,
        leaves: false,
      })
    }
    const settle = ({ link, hops, leaves }: Walk, place: Place | undefined) => {
      ends.set(link, { place, hops, leaves })
      open.delete(link)
      walks.pop()
    }
    begin(start)
    for (let walk = walks.at(-1); walk !== undefined; walk = walks.at(-1)) {
      if (walk.at >= walk.target.length) {
        const isBroken = walk.target === '' || (walk.target.endsWith('/') && walk.here.entry?.kind === 'file')
        settle(walk, isBroken ? undefined : walk.here)
        continue
      }
      if (steps++ >= mostSteps) return
      const slash = walk.target.indexOf('/', walk.at)
      const name = walk.target.slice(walk.at, slash === -1 ? undefined : slash)
      const next = slash === -1 ? walk.target.length : slash + 1
      if (walk.here.entry?.kind === 'file') {
        settle(walk, undefined)
        continue
      }
      if (name === '' || name === '.') {
        walk.at = next
        continue
      }
      if (name === '..') {
        walk.here = walk.here.parent ?? root
        walk.leaves ||= walk.here.entry === undefined
        walk.at = next
        continue
      }
      const place = walk.here.within.get(name)
      if (place?.entry?.kind !== 'link') {
        if (place === undefined) settle(walk, undefined)
        else {
          Object.assign(walk, { here: place, at: next })
          // The folders over the artefacts are the only way for an absolute path.
          walk.leaves ||= place.entry === undefined && !walk.target.startsWith('/')
        }
        continue
      }
      const end = ends.get(place)
      if (end === undefined && !open.has(place)) {
        begin(place)
        continue
      }
      walk.hops += end?.hops ?? mostHops
      if (end?.place === undefined || walk.hops > mostHops) settle(walk, undefined)
      else {
        Object.assign(walk, { here: end.place, at: next })
        // A link to such a folder is not kept, so there is no way over it.
        walk.leaves ||= end.place.entry === undefined
      }
    }
  }
}

/** The place of a path, made with the folders that it is in. */
function placeOf(path: string, places: Map<string, Place>, root: Place): Place {
  const missing: string[] = []
  let found = places.get(path)
  for (let up = path; found === undefined; found = places.get(up)) {
    missing.push(up)
    up = posix.dirname(up)
    if (up === '.') up = '/'
  }
  let place = found ?? root
  for (const made of missing.reverse()) {
    const next: Place = { path: made, parent: place, entry: undefined, within: new Map() }
    place.within.set(posix.basename(made), next)
    places.set(made, next)
    place = next
  }
  return place
}
