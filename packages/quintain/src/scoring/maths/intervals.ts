import type { Budget } from './budget.ts'
import { compareValues, type Sameness, sameValues } from './compare-values.ts'
import { evaluate, type Reader } from './evaluate.ts'
import type { Value } from './poly.ts'
import type { Node, RelationSign } from './syntax.ts'
import { NoValue } from './value.ts'

/** One end of an interval; infinite where it has no value. */
interface End {
  at: Value | 'infinite'
  closed: boolean
}

interface Interval {
  low: End
  high: End
}

/** Numbers as intervals in order, without gaps of nothing; undefined for what is no such set, or cannot be put in order. */
export function intervalsOf(node: Node, reader: Reader): Interval[] | undefined {
  const found = pieces(node, reader)
  return found === undefined ? undefined : merged(found, reader.budget)
}

/** Whether two sets of numbers are the same. */
export function sameIntervals(a: readonly Interval[], b: readonly Interval[], budget: Budget): Sameness {
  if (a.length !== b.length) return false
  let all: Sameness = true
  for (const [place, left] of a.entries()) {
    for (const side of ['low', 'high'] as const) {
      const same = sameEnd(left[side], b[place]![side], budget)
      if (same === false) return false
      if (same === null) all = null
    }
  }
  return all
}

function sameEnd(a: End, b: End, budget: Budget): Sameness {
  if (a.at === 'infinite' || b.at === 'infinite') return a.at === b.at
  return a.closed === b.closed ? sameValues(a.at, b.at, budget) : false
}

function pieces(node: Node, reader: Reader): Interval[] | undefined {
  switch (node.kind) {
    case 'tuple': {
      const [low, high] = node.items
      if (node.items.length !== 2 || low === undefined || high === undefined) return undefined
      const from = endOf(low, node.brackets.open === '[', reader)
      const to = endOf(high, node.brackets.close === ']', reader)
      if (from === undefined || to === undefined) return undefined
      // No interval begins at +∞, ends at −∞ or holds either.
      const isOff = (end: End, side: Node, isMinus: boolean, closed: boolean) =>
        end.at === 'infinite' && (closed || (side.kind === 'minus') !== isMinus)
      if (isOff(from, low, true, node.brackets.open === '[')) return undefined
      if (isOff(to, high, false, node.brackets.close === ']')) return undefined
      return [{ low: from, high: to }]
    }
    case 'set': {
      const points = node.items.map((item) => endOf(item, true, reader))
      if (points.some((end) => end === undefined || end.at === 'infinite')) return undefined
      return points.map((end) => ({ low: end!, high: end! }))
    }
    case 'union':
    case 'list': {
      const parts = node.items.map((item) => pieces(item, reader))
      if (parts.some((part) => part === undefined)) return undefined
      const all = parts.flatMap((part) => part!)
      // "x > 1, x < 3" may mean either or both: only conditions without a common number say which.
      if (node.kind === 'list' && merged(all, reader.budget)?.length !== all.length) return undefined
      return all
    }
    case 'without': {
      const [from, holes] = node.items.map((item) => pieces(item, reader))
      return from === undefined || holes === undefined ? undefined : withHoles(from, holes, reader.budget)
    }
    case 'relation':
      return solutions(node.items, node.signs, reader)
    default:
      return undefined
  }
}

function endOf(node: Node, closed: boolean, reader: Reader): End | undefined {
  const isInfinite = node.kind === 'infinity' || (node.kind === 'minus' && node.item.kind === 'infinity')
  if (isInfinite) return { at: 'infinite', closed: false }
  try {
    return { at: evaluate(node, reader), closed }
  } catch (thrown) {
    if (thrown instanceof NoValue) return undefined
    throw thrown
  }
}

/** x > 2, 1 < x ≤ 3, x ≠ 0: what one variable may be. */
function solutions(
  items: readonly Node[],
  signs: readonly RelationSign[],
  reader: Reader,
): Interval[] | undefined {
  const infinite: End = { at: 'infinite', closed: false }
  const [first, middle, last] = items
  const bounds = signs.map((sign) => boundOf(sign))
  if (bounds.includes(undefined)) return undefined
  if (items.length === 3 && middle?.kind === 'symbol' && bounds[0]!.less === bounds[1]!.less) {
    const { less } = bounds[0]!
    const low = endOf(less ? first! : last!, (less ? bounds[0]! : bounds[1]!).closed, reader)
    const high = endOf(less ? last! : first!, (less ? bounds[1]! : bounds[0]!).closed, reader)
    return low === undefined || high === undefined ? undefined : [{ low, high }]
  }
  if (items.length !== 2) return undefined
  const isLeft = first?.kind === 'symbol'
  if (!isLeft && middle?.kind !== 'symbol') return undefined
  const bound = bounds[0]!
  const end = endOf(isLeft ? middle! : first!, bound.closed, reader)
  if (end === undefined) return undefined
  if (bound.other)
    return [
      { low: infinite, high: end },
      { low: end, high: infinite },
    ]
  return bound.less === isLeft ? [{ low: infinite, high: end }] : [{ low: end, high: infinite }]
}

function boundOf(sign: RelationSign): { less: boolean; closed: boolean; other?: true } | undefined {
  switch (sign) {
    case '<':
      return { less: true, closed: false }
    case '≤':
      return { less: true, closed: true }
    case '>':
      return { less: false, closed: false }
    case '≥':
      return { less: false, closed: true }
    case '≠':
      return { less: true, closed: false, other: true }
    default:
      return undefined
  }
}

function isPoint({ low, high }: Interval): boolean {
  return low === high
}

/** Intervals without single points. */
function withHoles(from: Interval[], holes: Interval[], budget: Budget): Interval[] | undefined {
  let left = from
  for (const hole of holes) {
    const { at } = hole.low
    if (!isPoint(hole) || at === 'infinite') return undefined
    const next: Interval[] = []
    for (const interval of left) {
      const below = interval.low.at === 'infinite' ? -1 : compareValues(interval.low.at, at, budget)
      const above = interval.high.at === 'infinite' ? 1 : compareValues(interval.high.at, at, budget)
      if (below === undefined || above === undefined) return undefined
      if (below > 0 || above < 0) next.push(interval)
      else {
        const open: End = { at, closed: false }
        if (below < 0) next.push({ low: interval.low, high: open })
        if (above > 0) next.push({ low: { at, closed: false }, high: interval.high })
      }
    }
    left = next
  }
  return left
}

function merged(found: readonly Interval[], budget: Budget): Interval[] | undefined {
  if (found.length > 100) return undefined
  let unknown = false
  const order = (a: Value | 'infinite', b: Value | 'infinite'): number => {
    if (a === 'infinite' || b === 'infinite') return a === b ? 0 : a === 'infinite' ? -1 : 1
    const sign = compareValues(a, b, budget)
    if (sign === undefined) unknown = true
    return sign ?? 0
  }
  const sorted = [...found].sort(
    (a, b) => order(a.low.at, b.low.at) || Number(b.low.closed) - Number(a.low.closed),
  )
  if (unknown && found.length > 1) return undefined
  const joined: Interval[] = []
  for (const next of sorted) {
    const last = joined.at(-1)
    if (last === undefined || last.high.at === 'infinite') {
      if (last === undefined) joined.push(next)
      continue
    }
    if (next.low.at === 'infinite') {
      joined[joined.length - 1] = next
      continue
    }
    const gap = compareValues(next.low.at, last.high.at, budget)
    if (gap === undefined) return undefined
    if (gap > 0 || (gap === 0 && !next.low.closed && !last.high.closed)) joined.push(next)
    else joined[joined.length - 1] = { low: last.low, high: laterEnd(last.high, next.high, budget) }
  }
  return joined
}

function laterEnd(a: End, b: End, budget: Budget): End {
  if (a.at === 'infinite') return a
  if (b.at === 'infinite') return b
  const sign = compareValues(a.at, b.at, budget) ?? 0
  if (sign !== 0) return sign > 0 ? a : b
  return a.closed ? a : b
}
