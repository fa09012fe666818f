import type { ToolSpec } from '../core/model.ts'
import type { WireSettings } from '../core/wire.ts'
import { DialectError } from './dialects/dialect.ts'
import type { ServerKind } from './token-asks.ts'

/**
 * A choice of tools in a form that the server heeds. llama.cpp reads the words alone and takes an object for `auto`, so a
 * tool by name is `required` there where it is the only one. Throws `DialectError` where it is not.
 */
export function heededToolChoice(
  choice: WireSettings['toolChoice'],
  tools: readonly ToolSpec[] = [],
  server: ServerKind | undefined,
): WireSettings['toolChoice'] {
  if (server !== 'llama.cpp' || typeof choice !== 'object') return choice
  if (tools.length === 1 && tools[0]?.name === choice.tool) return 'required'
  throw new DialectError(
    'unsupported',
    `llama.cpp cannot be told to call one tool of several (${choice.tool}); offer that tool alone, or ask for any ("required").`,
    'tool_choice',
  )
}
