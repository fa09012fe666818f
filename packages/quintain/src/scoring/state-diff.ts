import { anyElement, canonicalState, ignored, stateText } from './canonical-state.ts'
import { type ActiveRules, compileRules, ruleHere, rulesBelow, type StateRules } from './state-rules.ts'
import { checkList, fieldNames, isRecord, type Trail } from './state-value.ts'

/** One difference between two states. */
export interface StateChange {
  /** Names and positions from the root; for an element of an unordered list, the place of the list. */
  path: readonly string[]
  kind: 'added' | 'removed' | 'changed'
  /** Absent where something was added. */
  before?: unknown
  /** Absent where something was removed. */
  after?: unknown
}

/**
 * What differs between two plain states, place by place; an empty list when they are equal.
 *
 * Values compare as what they are (10 equals 10.0, but not "10"; null is not absence) unless `types` says how to read
 * them. Order counts, unless a list is named in `unordered`; there an element that occurs twice is there twice.
 * Nothing is left out that `ignore` does not name.
 *
 * Compared are JSON values, and what databases and programs add to them: bigints, Dates (as the instants that they
 * are) and Uint8Arrays (by their bytes). All else has no content that every reader would see in it.
 *
 * Throws `usage` for an unknown type; `not_json`, with the path, for a Map, a Set, a function, an instance of a class,
 * a state that holds itself or is more than 1,000 deep, in any place that is not ignored.
 *
 * @example
 * stateDiff(before, after, { ignore: ['orders.*.updated_at'], unordered: ['refunds'], types: { 'orders.*.placed': 'datetime' } })
 */
export function stateDiff(before: unknown, after: unknown, rules: StateRules = {}): StateChange[] {
  const walk: Walk = { trail: [], changes: [] }
  compare(before, after, compileRules(rules), walk)
  return walk.changes
}

/** Whether two states are equal under rules. Throws what `stateDiff` does. */
export function stateEqual(a: unknown, b: unknown, rules: StateRules = {}): boolean {
  return stateDiff(a, b, rules).length === 0
}

interface Walk {
  trail: Trail
  changes: StateChange[]
}

function compare(before: unknown, after: unknown, rules: ActiveRules, walk: Walk): void {
  if (sameScalar(before, after)) return
  const { ignore, unordered, type } = ruleHere(rules)
  if (ignore) return
  if (type === undefined) {
    if (Array.isArray(before) && Array.isArray(after)) {
      if (unordered) compareBags(before, after, rules, walk)
      else compareLists(before, after, rules, walk)
      return
    }
    if (isRecord(before) && isRecord(after)) {
      compareFields(before, after, rules, walk)
      return
    }
  }
  const was = stateText(canonicalState(before, rules, walk.trail))
  if (was !== stateText(canonicalState(after, rules, walk.trail)))
    walk.changes.push({ path: [...walk.trail], kind: 'changed', before, after })
}

/** Most of two states is the same scalars, and what is one thing is equal under any rule. */
function sameScalar(a: unknown, b: unknown): boolean {
  if (a !== b) return false
  return a === null || (typeof a !== 'object' && typeof a !== 'function' && typeof a !== 'symbol')
}

/** The same for two rows of scalars: to see that they are equal takes no rules. */
function sameRow(before: unknown, after: unknown): boolean {
  if (!isRecord(before) || !isRecord(after)) return false
  let fields = 0
  for (const name in before) {
    if (!Object.hasOwn(after, name) || !sameScalar(before[name], after[name])) return false
    fields++
  }
  for (const _ in after) fields--
  return (
    fields === 0 &&
    Object.getOwnPropertySymbols(before).length + Object.getOwnPropertySymbols(after).length === 0
  )
}

type Fields = Readonly<Record<string, unknown>>

function compareFields(before: Fields, after: Fields, rules: ActiveRules, walk: Walk): void {
  for (const name of fieldNames(before, walk.trail)) {
    const value = before[name]
    const other = fieldOf(after, name)
    if (value === undefined || sameScalar(value, other)) continue
    if (other === undefined) onOneSide('removed', name, value, rules, walk)
    else compareBelow(name, value, other, rules, walk)
  }
  for (const name of fieldNames(after, walk.trail)) {
    const value = after[name]
    if (value !== undefined && fieldOf(before, name) === undefined)
      onOneSide('added', name, value, rules, walk)
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  rules: ActiveRules,
  walk: Walk,
): void {
  checkList(before, walk.trail)
  checkList(after, walk.trail)
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    const name = String(at)
    if (at >= after.length) onOneSide('removed', name, before[at], rules, walk)
    else if (at >= before.length) onOneSide('added', name, after[at], rules, walk)
    else compareBelow(name, before[at], after[at], rules, walk)
  }
}

function compareBelow(name: string, before: unknown, after: unknown, rules: ActiveRules, walk: Walk): void {
  if (sameRow(before, after)) return
  walk.trail.push(name)
  compare(before, after, rulesBelow(rules, name), walk)
  walk.trail.pop()
}

function onOneSide(
  kind: 'added' | 'removed',
  name: string,
  value: unknown,
  rules: ActiveRules,
  { trail, changes }: Walk,
): void {
  trail.push(name)
  // Read as well, so that what cannot be compared is refused wherever it is.
  if (canonicalState(value, rulesBelow(rules, name), trail) !== ignored)
    changes.push({ path: [...trail], kind, ...(kind === 'added' ? { after: value } : { before: value }) })
  trail.pop()
}

/** A field of the object itself; absent and undefined are one. */
function fieldOf(object: Fields, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Elements without order: what one list has more often than the other. */
function compareBags(
  before: readonly unknown[],
  after: readonly unknown[],
  rules: ActiveRules,
  { trail, changes }: Walk,
): void {
  checkList(before, trail)
  checkList(after, trail)
  if (sameInOrder(before, after, rules, trail)) return
  const missing = new Map<string, unknown[]>()
  const below = rulesBelow(rules, anyElement)
  const textOf = (item: unknown, at: number): string | undefined => {
    trail.push(String(at))
    const canonical = canonicalState(item, below, trail)
    trail.pop()
    return canonical === ignored ? undefined : stateText(canonical)
  }
  const twins = twinsOf(before, after)
  for (const [at, item] of before.entries()) {
    const text = twins.before.has(at) ? undefined : textOf(item, at)
    if (text === undefined) continue
    const same = missing.get(text)
    if (same === undefined) missing.set(text, [item])
    else same.push(item)
  }
  const path = [...trail]
  const added: unknown[] = []
  for (const [at, item] of after.entries()) {
    const text = twins.after.has(at) ? undefined : textOf(item, at)
    if (text === undefined) continue
    const same = missing.get(text)
    if (same === undefined || same.length === 0) added.push(item)
    else same.pop()
  }
  for (const items of missing.values())
    for (const item of items) changes.push({ path, kind: 'removed', before: item })
  for (const item of added) changes.push({ path, kind: 'added', after: item })
}

/**
 * Rows of scalars that stand in both lists letter for letter, by position: under any rules they are the same, and need no
 * canonical form to be paired.
 */
function twinsOf(
  before: readonly unknown[],
  after: readonly unknown[],
): { before: Set<number>; after: Set<number> } {
  const twins = { before: new Set<number>(), after: new Set<number>() }
  const waiting = new Map<string, number[]>()
  for (const [at, item] of before.entries()) {
    const text = rowText(item)
    if (text === undefined) continue
    const same = waiting.get(text)
    if (same === undefined) waiting.set(text, [at])
    else same.push(at)
  }
  for (const [at, item] of after.entries()) {
    const twin = waiting.get(rowText(item) ?? '')?.pop()
    if (twin === undefined) continue
    twins.before.add(twin)
    twins.after.add(at)
  }
  return twins
}

/** A row of text, finite numbers, booleans and null as it stands; undefined for anything else. */
function rowText(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined
  for (const name in item) {
    const value = item[name]
    const isPlain =
      value === null ||
      typeof value === 'string' ||
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isFinite(value))
    if (!isPlain) return undefined
  }
  return JSON.stringify(item)
}

/** Bags are mostly the same list, and to see that takes no texts of their elements. */
function sameInOrder(
  before: readonly unknown[],
  after: readonly unknown[],
  rules: ActiveRules,
  trail: Trail,
): boolean {
  if (before.length !== after.length) return false
  const below = rulesBelow(rules, anyElement)
  const walk: Walk = { trail, changes: [] }
  for (let at = 0; at < before.length; at++) {
    trail.push(String(at))
    compare(before[at], after[at], below, walk)
    trail.pop()
    if (walk.changes.length > 0) return false
  }
  return true
}

/**
 * Of several states that would each be right, the one that a state is nearest to: its place in the list and what is
 * still different. A task whose goal can be reached in more than one way lists them all. Undefined without goals.
 */
export function nearestGoal(
  goals: readonly unknown[],
  state: unknown,
  rules: StateRules = {},
): { goal: number; changes: StateChange[] } | undefined {
  let nearest: { goal: number; changes: StateChange[] } | undefined
  for (const [goal, wanted] of goals.entries()) {
    const changes = stateDiff(wanted, state, rules)
    if (nearest === undefined || changes.length < nearest.changes.length) nearest = { goal, changes }
    if (changes.length === 0) break
  }
  return nearest
}
