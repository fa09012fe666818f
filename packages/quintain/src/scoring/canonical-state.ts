import { canonicalJson, sha256 } from '../core/index.ts'
import { type ActiveRules, compileRules, ruleHere, rulesBelow, type StateRules } from './state-rules.ts'
import { canonicalValue } from './value-type.ts'

/** In the place of what is not compared. */
export const ignored: unique symbol = Symbol('ignored')

/** How an element of an unordered list is named: its position says nothing, so only `*` and `**` speak of it. */
export const anyElement = '*'

/** A state in the one form that all equal states have: ignored places left out, typed values respelt, unordered lists sorted. */
export function canonicalState(state: unknown, rules: ActiveRules): unknown {
  const { ignore, unordered, type } = ruleHere(rules)
  if (ignore) return ignored
  if (type !== undefined) return canonicalValue(type, state)
  if (Array.isArray(state)) {
    const kept = state
      .map((item: unknown, i) => canonicalState(item, rulesBelow(rules, unordered ? anyElement : String(i))))
      .filter((item) => item !== ignored)
    if (!unordered) return kept
    return kept
      .map((item) => [stateText(item), item] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, item]) => item)
  }
  if (typeof state === 'object' && state !== null) {
    const fields: [string, unknown][] = []
    for (const [name, value] of Object.entries(state)) {
      // Absent and undefined are one: JSON has no word for either.
      if (value === undefined) continue
      const inner = canonicalState(value, rulesBelow(rules, name))
      if (inner !== ignored) fields.push([name, inner])
    }
    return Object.fromEntries(fields)
  }
  return plainScalar(state)
}

/** Equal scalars in one form: a database's big integer is the number it is, and there is one zero. */
function plainScalar(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : { $integer: String(value) }
  }
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return 0
    if (!Number.isFinite(value)) return { $number: String(value) }
  }
  return value
}

/** The text that all equal canonical states have. */
export function stateText(canonical: unknown): string {
  return canonicalJson(canonical === ignored ? null : canonical)
}

/**
 * Hex SHA-256 of a state under rules: equal exactly when `stateDiff` finds no difference. Numbers are compared as
 * numbers, in every language that reads JSON: 10 and 10.0 have one digest.
 */
export function stateDigest(state: unknown, rules: StateRules = {}): string {
  return sha256(stateText(canonicalState(state, compileRules(rules))))
}
