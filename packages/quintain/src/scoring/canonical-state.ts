import { canonicalJson, sha256 } from '../core/index.ts'
import { type ActiveRules, compileRules, ruleHere, rulesBelow, type StateRules } from './state-rules.ts'
import { checkList, fieldNames, isRecord, loneName, plainForm, type Trail } from './state-value.ts'
import { canonicalValue } from './value-type.ts'

/** In the place of what is not compared. */
export const ignored: unique symbol = Symbol('ignored')

/** How an element of an unordered list is named: its position says nothing, so only `*` and `**` speak of it. */
export const anyElement = '*'

/**
 * A state in the one form that all equal states have: ignored places left out, typed values respelt, unordered lists
 * sorted. Throws `not_json` for what cannot be compared (see `plainForm`).
 */
export function canonicalState(state: unknown, rules: ActiveRules, trail: Trail = []): unknown {
  const { ignore, unordered, type } = ruleHere(rules)
  if (ignore) return ignored
  if (type !== undefined) {
    const value = canonicalValue(type, state)
    if (value !== undefined) return value
  }
  if (Array.isArray(state)) return canonicalList(state, unordered, rules, trail)
  if (isRecord(state)) return canonicalRecord(state, rules, trail)
  return plainForm(state, trail)
}

function canonicalList(
  list: readonly unknown[],
  unordered: boolean,
  rules: ActiveRules,
  trail: Trail,
): unknown[] {
  checkList(list, trail)
  const kept: unknown[] = []
  for (let at = 0; at < list.length; at++) {
    const name = String(at)
    trail.push(name)
    const item = canonicalState(list[at], rulesBelow(rules, unordered ? anyElement : name), trail)
    trail.pop()
    if (item !== ignored) kept.push(item)
  }
  if (!unordered) return kept
  return kept
    .map((item) => [stateText(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, item]) => item)
}

function canonicalRecord(record: Record<string, unknown>, rules: ActiveRules, trail: Trail): unknown {
  const fields: [string, unknown][] = []
  for (const name of fieldNames(record, trail)) {
    const value = record[name]
    // Absent and undefined are one: JSON has no word for either.
    if (value === undefined) continue
    trail.push(name)
    const inner = canonicalState(value, rulesBelow(rules, name), trail)
    trail.pop()
    if (inner !== ignored) fields.push([name, inner])
  }
  const [lone] = fields
  if (fields.length === 1 && lone !== undefined) lone[0] = loneName(lone[0])
  return Object.fromEntries(fields)
}

/** The text that all equal canonical states have. */
export function stateText(canonical: unknown): string {
  return canonicalJson(canonical === ignored ? null : canonical)
}

/**
 * Hex SHA-256 of a state under rules: equal exactly when `stateDiff` finds no difference. Numbers are compared as
 * numbers, in every language that reads JSON: 10 and 10.0 have one digest. Throws what `stateDiff` does.
 */
export function stateDigest(state: unknown, rules: StateRules = {}): string {
  return sha256(stateText(canonicalState(state, compileRules(rules))))
}
