import { type ArgumentRules, argumentMatches, sameArgument } from './argument-match.ts'

/** A call of a tool, expected or made. */
export interface ToolAction {
  name: string
  arguments: Readonly<Record<string, unknown>>
  /** The seat that makes it, where that matters. */
  requestor?: string
}

/** What is known of a tool's parameters. */
export type ParameterSchema = Readonly<Record<string, { type?: string; default?: unknown }>>

export interface ActionMatchOptions extends ArgumentRules {
  /** Compare these arguments and no others; none at all compares the name alone. Absent or null: all arguments of both sides. */
  compareArgs?: readonly string[] | null
  /** Parameters of the tool: an argument that equals its default may be left out. */
  schema?: ParameterSchema
}

/**
 * Whether a call is the expected one: same tool, and the same value for every argument that either side gives. An
 * argument that is left out does not match one that is given, unless it is given as its default. (tau2-bench's
 * `compare_with_tool_call` looks at the keys of the made call only, so that a call without arguments matches all.)
 */
export function actionMatches(
  expected: ToolAction,
  actual: ToolAction,
  options: ActionMatchOptions = {},
): boolean {
  const { compareArgs, schema = {} } = options
  if (expected.name !== actual.name) return false
  if (expected.requestor !== undefined && expected.requestor !== actual.requestor) return false
  const given = (action: ToolAction, name: string): unknown =>
    Object.hasOwn(action.arguments, name) && action.arguments[name] !== undefined
      ? action.arguments[name]
      : Object.hasOwn(schema, name)
        ? schema[name]!.default
        : undefined
  const names = compareArgs ?? new Set([...Object.keys(expected.arguments), ...Object.keys(actual.arguments)])
  for (const name of names) {
    const wanted = given(expected, name)
    const got = given(actual, name)
    if (wanted === undefined && got === undefined) continue
    if (wanted === undefined || got === undefined) return false
    const type = Object.hasOwn(schema, name) ? schema[name]!.type : undefined
    const same =
      type === undefined ? sameArgument(wanted, got, options) : argumentMatches(type, wanted, got, options)
    if (!same) return false
  }
  return true
}
