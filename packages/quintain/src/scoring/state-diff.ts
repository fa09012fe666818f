import { anyElement, canonicalState, ignored, stateText } from './canonical-state.ts'
import { type ActiveRules, compileRules, ruleHere, rulesBelow, type StateRules } from './state-rules.ts'

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
 * Throws `usage` for an unknown type, `not_json` for a state with a cycle inside an unordered list.
 *
 * @example
 * stateDiff(before, after, { ignore: ['orders.*.updated_at'], unordered: ['refunds'], types: { 'orders.*.placed': 'datetime' } })
 */
export function stateDiff(before: unknown, after: unknown, rules: StateRules = {}): StateChange[] {
  const changes: StateChange[] = []
  compare(before, after, [], compileRules(rules), changes)
  return changes
}

/** Whether two states are equal under rules. */
export function stateEqual(a: unknown, b: unknown, rules: StateRules = {}): boolean {
  return stateDiff(a, b, rules).length === 0
}

function compare(
  before: unknown,
  after: unknown,
  path: readonly string[],
  rules: ActiveRules,
  changes: StateChange[],
): void {
  if (before === after) return
  const { ignore, unordered, type } = ruleHere(rules)
  if (ignore) return
  if (type === undefined && Array.isArray(before) && Array.isArray(after)) {
    if (unordered) compareBags(before, after, path, rules, changes)
    else compareFields(before, after, path, rules, changes)
    return
  }
  if (type === undefined && isObject(before) && isObject(after)) {
    compareFields(before, after, path, rules, changes)
    return
  }
  if (stateText(canonicalState(before, rules)) === stateText(canonicalState(after, rules))) return
  changes.push({ path, kind: 'changed', before, after })
}

function compareFields(
  before: object,
  after: object,
  path: readonly string[],
  rules: ActiveRules,
  changes: StateChange[],
): void {
  const [had, has] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  for (const name of Object.keys(had)) {
    const value = had[name]
    const other = fieldOf(has, name)
    // Most of two states is the same scalars, and what is one thing is equal under any rule.
    if (value === undefined || value === other) continue
    const below = rulesBelow(rules, name)
    if (other !== undefined) compare(value, other, [...path, name], below, changes)
    else if (!ruleHere(below).ignore) changes.push({ path: [...path, name], kind: 'removed', before: value })
  }
  for (const name of Object.keys(has)) {
    const value = has[name]
    if (value === undefined || fieldOf(had, name) !== undefined) continue
    if (!ruleHere(rulesBelow(rules, name)).ignore)
      changes.push({ path: [...path, name], kind: 'added', after: value })
  }
}

/** A field of the object itself; absent and undefined are one. */
function fieldOf(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Elements without order: what one list has more often than the other. */
function compareBags(
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly string[],
  rules: ActiveRules,
  changes: StateChange[],
): void {
  const missing = new Map<string, unknown[]>()
  const below = rulesBelow(rules, anyElement)
  const textOf = (item: unknown): string | undefined => {
    const canonical = canonicalState(item, below)
    return canonical === ignored ? undefined : stateText(canonical)
  }
  for (const item of before) {
    const text = textOf(item)
    if (text === undefined) continue
    const same = missing.get(text)
    if (same === undefined) missing.set(text, [item])
    else same.push(item)
  }
  const added: unknown[] = []
  for (const item of after) {
    const text = textOf(item)
    if (text !== undefined && missing.get(text)?.pop() === undefined) added.push(item)
  }
  for (const items of missing.values())
    for (const item of items) changes.push({ path, kind: 'removed', before: item })
  for (const item of added) changes.push({ path, kind: 'added', after: item })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Differences as lines for people: `orders.A-1.status: "placed" -> "cancelled"`. */
export function changeLines(changes: readonly StateChange[]): string[] {
  const textOf = (value: unknown) => stateText(canonicalState(value, []))
  return changes.map(({ path, kind, before, after }) => {
    const place = path.length === 0 ? '(all)' : path.join('.')
    if (kind === 'added') return `${place}: + ${textOf(after)}`
    if (kind === 'removed') return `${place}: - ${textOf(before)}`
    return `${place}: ${textOf(before)} -> ${textOf(after)}`
  })
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
