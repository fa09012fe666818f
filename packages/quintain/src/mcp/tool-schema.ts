import { messageOf } from '../core/errors.ts'
import type { JsonSchema } from '../core/standard-schema.ts'

/** Values in a schema, how deep they nest, and characters of its JSON; a schema with more is refused. */
const mostNodes = 20_000
const mostDepth = 100
export const mostSchemaLength = 1_000_000

/** What a server's `inputSchema` becomes: what a model is told, or why that cannot be. */
export type ReadSchema =
  | { schema: JsonSchema; dialect: { $schema?: string }; problem?: undefined }
  | { schema?: undefined; problem: string }

/**
 * A server's input schema as one that providers take: of type `object` at its root. A missing one takes any
 * arguments, a reference at the root is followed, and a reference that leads out of the schema accepts anything
 * there, since nothing is fetched and the server checks what it is sent. `$schema` and `$id` are left out; `dialect`
 * is to be checked with.
 */
export function readInputSchema(raw: unknown): ReadSchema {
  if (raw === undefined || raw === null || raw === true) return { schema: { type: 'object' }, dialect: {} }
  if (!isObject(raw))
    return { problem: `its input schema is ${Array.isArray(raw) ? 'an array' : typeof raw}` }
  const root = followRoot(raw)
  if (root === undefined) return { problem: 'the reference at the root of its input schema leads nowhere' }
  const { type } = root
  const object = type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (!object) return { problem: `its input schema is of type ${JSON.stringify(type)}, not an object` }
  let nodes = 0
  // What is data is copied as it is, but it counts.
  const copy = (value: unknown, depth: number, data: boolean): unknown => {
    if (++nodes > mostNodes || depth > mostDepth) throw new RangeError('its input schema is too large')
    if (Array.isArray(value)) return value.map((entry) => copy(entry, depth + 1, data))
    if (!isObject(value)) return value
    const reference = value['$ref']
    if (!data && typeof reference === 'string' && resolve(root, reference) === undefined) return {}
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, copy(entry, depth + 1, data || literal.has(key))]),
    )
  }
  try {
    const { $schema, $id: _, ...schema } = copy(root, 0, false) as JsonSchema
    if (JSON.stringify(schema).length > mostSchemaLength)
      throw new RangeError('its input schema is too large')
    const dialect = typeof $schema === 'string' ? { $schema } : {}
    return { schema: { ...schema, type: 'object' }, dialect }
  } catch (thrown) {
    return { problem: messageOf(thrown) }
  }
}

/** What stands under these is data, not a schema. */
const literal = new Set(['const', 'default', 'enum', 'examples'])

function followRoot(raw: JsonSchema): JsonSchema | undefined {
  let root = raw
  for (let hops = 0; typeof root['$ref'] === 'string'; hops++) {
    const target = resolve(raw, root['$ref'])
    if (hops > 10 || !isObject(target)) return undefined
    const { $ref: _, ...beside } = root
    root = { ...beside, ...target }
  }
  return root
}

/** The value that a local reference names (RFC 6901), or undefined. */
function resolve(root: JsonSchema, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let value: unknown = root
  for (const segment of reference.slice(2).split('/')) {
    const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
