import type { ToolAction } from './action-match.ts'
import { type ArgumentRules, sameArgument } from './argument-match.ts'
import { maximumMatching } from './maximum-matching.ts'

/** A call that is wanted, with the values that each argument may have; null among them means that it may be left out. */
export interface AllowedCall {
  name: string
  arguments: Readonly<Record<string, readonly unknown[]>>
}

/** Whether a call is allowed: each of its arguments is named and has one of its values, and none is missing that must be there. */
export function callAllowed(allowed: AllowedCall, actual: ToolAction, rules: ArgumentRules = {}): boolean {
  if (allowed.name !== actual.name) return false
  for (const [name, value] of Object.entries(actual.arguments)) {
    if (value === undefined) continue
    if (!Object.hasOwn(allowed.arguments, name)) return false
    if (!allowed.arguments[name]!.some((choice) => sameArgument(choice, value, rules))) return false
  }
  return Object.entries(allowed.arguments).every(
    ([name, values]) => actual.arguments[name] !== undefined || values.includes(null),
  )
}

/**
 * Pairs made calls with wanted ones, whatever their order, so that as many as possible are paired (`maximumMatching`).
 * Gives for each wanted call the position of the made one, or undefined.
 */
export function pairCalls(
  allowed: readonly AllowedCall[],
  actual: readonly ToolAction[],
  rules: ArgumentRules = {},
): (number | undefined)[] {
  const fits = allowed.map((call) => actual.flatMap((made, i) => (callAllowed(call, made, rules) ? [i] : [])))
  return maximumMatching(allowed.length, actual.length, (wanted) => fits[wanted]!)
}

/** Whether the calls that were made are exactly those that were wanted, in any order: one for each, none missing, none more. */
export function callsMatchUnordered(
  allowed: readonly AllowedCall[],
  actual: readonly ToolAction[],
  rules: ArgumentRules = {},
): boolean {
  if (allowed.length !== actual.length) return false
  return pairCalls(allowed, actual, rules).every((made) => made !== undefined)
}
