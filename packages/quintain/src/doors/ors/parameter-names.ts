import type { JsonSchema, ToolSpec } from '../../core/index.ts'

/**
 * Clients make a Python function of every tool, whose parameters are those of the tool. None can be called as one of these:
 * keywords cannot be names, and the last ones mean something in the function that TRL writes.
 */
const notNames: ReadonlySet<string> = new Set([
  ...['False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def'],
  ...[
    'del',
    'elif',
    'else',
    'except',
    'finally',
    'for',
    'from',
    'global',
    'if',
    'import',
    'in',
    'is',
    'lambda',
  ],
  ...['nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'],
  ...['self', '_kwargs', 'dict', 'locals'],
])

/**
 * What no tool may be called: clients' objects have attributes of these names, which a tool would be instead of, or the
 * name is no name in Python.
 */
export const reservedToolNames: ReadonlySet<string> = new Set([
  ...notNames,
  ...['reset', 'reward', 'rewards', 'metadata', 'finished', 'last_output'],
])

/** A tool as this protocol lists it. */
export interface ListedTool {
  name: string
  description: string
  input_schema: JsonSchema
}

/** A tool, its parameters under names that Python has, and how they were called. */
export interface ShownTool {
  listed: ListedTool
  /** Their own names by the names that are shown; undefined where none differs. */
  own: ReadonlyMap<string, string> | undefined
}

export function shownTool({ name, description, parameters }: ToolSpec): ShownTool {
  const properties = parameters['properties']
  const names = isObject(properties) ? Object.keys(properties) : []
  if (!isObject(properties) || names.every(isName))
    return { listed: { name, description, input_schema: parameters }, own: undefined }
  const shown = new Map<string, string>()
  const used = new Set(names.filter(isName))
  for (const own of names) {
    let as = own
    if (!isName(own)) {
      as = own.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d|$)/, '_')
      while (!isName(as) || used.has(as)) as += '_'
      used.add(as)
    }
    shown.set(own, as)
  }
  const { required } = parameters
  const schema: JsonSchema = {
    ...parameters,
    properties: Object.fromEntries(Object.entries(properties).map(([own, of]) => [shown.get(own)!, of])),
    ...(Array.isArray(required) ? { required: required.map((own) => shown.get(own as string) ?? own) } : {}),
  }
  const own = new Map([...shown].filter(([own, as]) => own !== as).map(([own, as]) => [as, own]))
  return { listed: { name, description, input_schema: schema }, own }
}

/** Arguments under the names that the tool knows. */
export function ownArguments({ own }: ShownTool, given: Record<string, unknown>): Record<string, unknown> {
  if (own === undefined) return given
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [own.get(name) ?? name, value]))
}

function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !notNames.has(name)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
