import type { ParameterSchema, ToolAction } from './action-match.ts'
import { type ArgumentRules, argumentMatches, sameArgument } from './argument-match.ts'
import { maximumMatching } from './maximum-matching.ts'

/** A call that is wanted, with the values that each argument may have; null among them means that it may be left out. */
export interface AllowedCall {
  name: string
  arguments: Readonly<Record<string, readonly unknown[]>>
}

export interface CallRules extends ArgumentRules {
  /**
   * Parameters by tool. A value must then be of its parameter's type (`argumentMatches`), and a parameter that is left
   * out has its default, one that is given as its default need not be named.
   */
  schemas?: Readonly<Record<string, ParameterSchema>>
}

/** Whether a call is allowed: each of its arguments is named and has one of its values, and none is missing that must be there. */
export function callAllowed(allowed: AllowedCall, actual: ToolAction, rules: CallRules = {}): boolean {
  if (allowed.name !== actual.name) return false
  const schema = ownValue(rules.schemas ?? {}, actual.name) ?? {}
  const has = (name: string, choices: readonly unknown[], value: unknown): boolean => {
    const type = ownValue(schema, name)?.type
    return choices.some((choice) =>
      type === undefined ? sameArgument(choice, value, rules) : argumentMatches(type, choice, value, rules),
    )
  }
  for (const [name, value] of Object.entries(actual.arguments)) {
    if (value === undefined || Object.hasOwn(allowed.arguments, name)) continue
    const byDefault = ownValue(schema, name)?.default
    if (byDefault === undefined || !has(name, [byDefault], value)) return false
  }
  return Object.entries(allowed.arguments).every(([name, choices]) => {
    const value = ownValue(actual.arguments, name)
    if (value !== undefined) return has(name, choices, value)
    const byDefault = ownValue(schema, name)?.default
    return choices.includes(null) || (byDefault !== undefined && has(name, choices, byDefault))
  })
}

/** A value of the object itself: a model may name an argument as what all objects have, `constructor`. */
function ownValue<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/**
 * Pairs made calls with wanted ones, whatever their order, so that as many as possible are paired (`maximumMatching`).
 * Gives for each wanted call the position of the made one, or undefined.
 */
export function pairCalls(
  allowed: readonly AllowedCall[],
  actual: readonly ToolAction[],
  rules: CallRules = {},
): (number | undefined)[] {
  const fits = allowed.map((call) => actual.flatMap((made, i) => (callAllowed(call, made, rules) ? [i] : [])))
  return maximumMatching(allowed.length, actual.length, (wanted) => fits[wanted]!)
}

/** Whether the calls that were made are exactly those that were wanted, in any order: one for each, none missing, none more. */
export function callsMatchUnordered(
  allowed: readonly AllowedCall[],
  actual: readonly ToolAction[],
  rules: CallRules = {},
): boolean {
  if (allowed.length !== actual.length) return false
  return pairCalls(allowed, actual, rules).every((made) => made !== undefined)
}
