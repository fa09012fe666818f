import { canonicalState, stateText } from './canonical-state.ts'
import type { StateChange } from './state-diff.ts'

export interface ChangeLinesOptions {
  /** Lines at most; what is left out is counted in one more. 1,000 when absent. */
  most?: number
  /** Characters kept of a value, and half as many of a place; 200 when absent. */
  length?: number
}

/**
 * Differences as lines for people: `orders.A-1.status: "placed" -> "cancelled"`, `refunds: + {"cents":5}`. By place, so that
 * equal states give equal lines whatever the order of their fields. Names and values were an agent's: what would
 * act on a terminal or turn text round is escaped, and what is long is cut, to where two values begin to differ.
 */
export function changeLines(
  changes: readonly StateChange[],
  { most = 1000, length = 200 }: ChangeLinesOptions = {},
): string[] {
  const sorted = changes.map((change) => ({ change, values: valuesOf(change) })).toSorted(byPlace)
  const lines = sorted.slice(0, most).map(({ change: { path, kind }, values }) => {
    const place = path.length === 0 ? '(all)' : shown(path.map(nameText).join('.'), length >> 1)
    const [one, other] = values
    if (kind !== 'changed') return `${place}: ${kind === 'added' ? '+' : '-'} ${shown(one, length)}`
    const from = Math.max(one.length, other.length) > length ? firstShown(one, other, length) : 0
    return `${place}: ${shown(one, length, from)} -> ${shown(other, length, from)}`
  })
  const left = sorted.length - lines.length
  return left > 0 ? [...lines, `… and ${left} more`] : lines
}

interface Shown {
  change: StateChange
  values: readonly [string, string]
}

/** The texts of what was and what is; of what is on one side alone, its text twice. */
function valuesOf({ kind, before, after }: StateChange): readonly [string, string] {
  const was = kind === 'added' ? undefined : valueText(before)
  const is = kind === 'removed' ? undefined : valueText(after)
  return [was ?? is ?? '', is ?? was ?? '']
}

/** A value that differs, as text. In it may be, in a place that was not compared, what has no text. */
function valueText(value: unknown): string {
  try {
    return stateText(canonicalState(value, []))
  } catch {
    return '(not plain data)'
  }
}

/** A name as it is where it can be told from what stands round it, else in quotes. */
function nameText(name: string): string {
  return /^[\p{L}\p{N}_$@/-][\p{L}\p{M}\p{N}_$@/ -]*$/u.test(name) ? name : JSON.stringify(name)
}

function byPlace(
  { change: a, values: [wasA, isA] }: Shown,
  { change: b, values: [wasB, isB] }: Shown,
): number {
  for (const [at, name] of a.path.entries()) {
    const other = b.path[at]
    if (other === undefined) return 1
    if (name !== other) return byName(name, other)
  }
  if (a.path.length < b.path.length) return -1
  return rank[a.kind] - rank[b.kind] || byText(wasA, wasB) || byText(isA, isB)
}

const rank = { removed: 0, changed: 1, added: 2 }

/** Positions as numbers, all else by its text. */
function byName(a: string, b: string): number {
  const position = /^\d{1,15}$/
  return (position.test(a) && position.test(b) ? Number(a) - Number(b) : 0) || byText(a, b)
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Where two long texts are shown from: shortly before they differ. */
function firstShown(a: string, b: string, length: number): number {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  return same < length / 2 ? 0 : same - Math.min(same, length >> 2)
}

function shown(text: string, length: number, from = 0): string {
  const [start, end] = [whole(text, from), whole(text, from + length)]
  const kept = text.slice(start, end).replace(/[\p{C}\u2028\u2029]/gu, escaped)
  return `${start > 0 ? '…' : ''}${kept}${end < text.length ? `… (${text.length} characters)` : ''}`
}

/** The place, or the one before it where it would part a character. */
function whole(text: string, at: number): number {
  return /^[\udc00-\udfff]/.test(text.charAt(at)) && at > 0 ? at - 1 : Math.min(at, text.length)
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
