import { isObject } from '../../core/chat-messages.ts'
import type { ToolSpec } from '../../core/index.ts'

/** Tools as a row declares them, or what is wrong with one. */
export type DeclaredTools = ToolSpec[] | string

/**
 * The functions that a row declares: as Chat Completions writes them (`{ type, function }`) and as Responses does (the
 * function itself). They are offered and never run.
 */
export function readDeclaredTools(given: unknown): DeclaredTools {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) return 'its "tools" are no list'
  const tools: ToolSpec[] = []
  for (const [index, raw] of (given as unknown[]).entries()) {
    const where = `tool ${index + 1}`
    if (!isObject(raw)) return `${where} is no object`
    const inner = isObject(raw['function']) ? raw['function'] : raw
    const { name, description, parameters } = inner
    if (typeof name !== 'string')
      return `${where} is of type ${JSON.stringify(raw['type'] ?? null).slice(0, 40)} and names no function; only functions can be carried`
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return `${where} is called ${JSON.stringify(name.slice(0, 80))}; names of tools are 1 to 64 letters, digits, "_" and "-"`
    if (tools.some((tool) => tool.name === name)) return `two tools are called ${name}`
    if (parameters !== undefined && parameters !== null && !isObject(parameters))
      return `the parameters of ${name} are no schema`
    const schema = isObject(parameters) ? parameters : { type: 'object', properties: {} }
    const type = schema['type']
    if (type !== undefined && type !== 'object')
      return `the parameters of ${name} are of type ${JSON.stringify(type).slice(0, 40)}; arguments are an object`
    const strict = inner['strict']
    tools.push({
      name,
      description: typeof description === 'string' ? description : '',
      parameters: schema,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    })
  }
  return tools
}
