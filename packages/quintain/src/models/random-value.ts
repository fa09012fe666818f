import type { Rng } from '../core/rng.ts'
import type { JsonSchema } from '../core/standard-schema.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz'

/**
 * A value that a JSON Schema (draft 2020-12) allows, drawn from `rng`. Knows types, enums, bounds, `required`, `anyOf`,
 * `oneOf`, `allOf`, local `$ref`, common formats and simple patterns; keywords it does not know are ignored, so a
 * value may be refused by a schema that leans on them.
 */
export function randomValue(schema: unknown, rng: Rng): unknown {
  return draw(schema, { rng, root: schema, depth: 0 })
}

interface DrawContext {
  rng: Rng
  root: unknown
  depth: number
}

function draw(schema: unknown, context: DrawContext): unknown {
  const { rng, depth } = context
  if (typeof schema !== 'object' || schema === null) return schema === false ? null : word(rng, 1, 8)
  const node = merged(schema as JsonSchema, context)
  const deeper = { ...context, depth: depth + 1 }
  if ('const' in node) return node['const']
  if (Array.isArray(node['enum']) && node['enum'].length > 0) return rng.pick(node['enum'] as unknown[])
  for (const key of ['anyOf', 'oneOf']) {
    const options = node[key]
    if (!Array.isArray(options) || options.length === 0) continue
    const option: unknown = depth > 8 ? (options.find(isLeaf) ?? options[0]) : rng.pick(options as unknown[])
    const { [key]: _chosen, ...rest } = node
    return draw(typeof option === 'object' && option !== null ? { ...rest, ...option } : rest, deeper)
  }
  switch (typeOf(node, rng)) {
    case 'object':
      return drawObject(node, deeper)
    case 'array':
      return drawArray(node, deeper)
    case 'integer':
      return drawNumber(node, rng, true)
    case 'number':
      return drawNumber(node, rng, false)
    case 'boolean':
      return rng.int(2) === 1
    case 'null':
      return null
    default:
      return drawString(node, rng)
  }
}

function isLeaf(schema: unknown): boolean {
  const node = (typeof schema === 'object' && schema !== null ? schema : {}) as JsonSchema
  return !('$ref' in node) && node['type'] !== 'object' && node['type'] !== 'array'
}

/** The schema with its `$ref` and `allOf` folded in. */
function merged(schema: JsonSchema, context: DrawContext): JsonSchema {
  let node = schema
  for (let hops = 0; typeof node['$ref'] === 'string' && hops < 16; hops++) {
    const { $ref, ...rest } = node
    const target = resolve(context.root, $ref as string)
    node = { ...(typeof target === 'object' && target !== null ? target : {}), ...rest } as JsonSchema
  }
  const parts = node['allOf']
  if (!Array.isArray(parts)) return node
  const { allOf: _parts, ...result } = node
  for (const part of parts as unknown[]) {
    if (typeof part !== 'object' || part === null) continue
    const inner = merged(part as JsonSchema, context)
    const properties = { ...object(result['properties']), ...object(inner['properties']) }
    const required = [...list(result['required']), ...list(inner['required'])]
    Object.assign(result, inner)
    if (Object.keys(properties).length > 0) result['properties'] = properties
    if (required.length > 0) result['required'] = required
  }
  return result
}

function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let node: unknown = root
  for (const segment of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null) return undefined
    node = (node as Record<string, unknown>)[key]
  }
  return node
}

function typeOf(node: JsonSchema, rng: Rng): unknown {
  const type = node['type']
  if (Array.isArray(type) && type.length > 0) return rng.pick(type as unknown[])
  if (type !== undefined) return type
  if ('properties' in node || 'required' in node) return 'object'
  if ('items' in node || 'prefixItems' in node) return 'array'
  if ('minimum' in node || 'maximum' in node || 'multipleOf' in node) return 'number'
  return 'string'
}

function drawObject(node: JsonSchema, context: DrawContext): Record<string, unknown> {
  const properties = object(node['properties'])
  const required = new Set(list(node['required']))
  const result: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(properties)) {
    const wanted = required.has(key) || (context.depth < 6 && context.rng.int(2) === 1)
    if (wanted) result[key] = draw(inner, context)
  }
  for (const key of required) {
    if (typeof key === 'string' && !(key in properties))
      result[key] = draw(node['additionalProperties'], context)
  }
  return result
}

function drawArray(node: JsonSchema, context: DrawContext): unknown[] {
  const fixed = Array.isArray(node['prefixItems']) ? (node['prefixItems'] as unknown[]) : []
  const least = Math.max(number(node['minItems']) ?? 0, fixed.length)
  const most = Math.max(least, Math.min(number(node['maxItems']) ?? least + 3, least + 16))
  const length = context.depth > 6 ? least : least + context.rng.int(most - least + 1)
  const items: unknown[] = []
  for (let tries = 0; items.length < length && tries < length * 8; tries++) {
    const item = draw(fixed[items.length] ?? node['items'] ?? {}, context)
    const repeated = node['uniqueItems'] === true && items.some((other) => Object.is(other, item))
    if (!repeated) items.push(item)
  }
  return items
}

function drawNumber(node: JsonSchema, rng: Rng, whole: boolean): number {
  const step = number(node['multipleOf']) ?? (whole ? 1 : undefined)
  const floor = number(node['minimum']) ?? number(node['exclusiveMinimum'])
  const ceiling = number(node['maximum']) ?? number(node['exclusiveMaximum'])
  let low = floor ?? (ceiling === undefined ? 0 : ceiling - 100)
  let high = ceiling ?? low + 100
  if (step === undefined) {
    const value = low + rng.next() * (high - low)
    return value <= low && 'exclusiveMinimum' in node ? (low + high) / 2 : value
  }
  low = Math.ceil(low / step)
  high = Math.floor(high / step)
  if (number(node['exclusiveMinimum']) === low * step) low++
  if (number(node['exclusiveMaximum']) === high * step) high--
  const span = Math.min(Math.max(0, high - low), 4294967294)
  return (low + rng.int(span + 1)) * step
}

function drawString(node: JsonSchema, rng: Rng): string {
  const two = (bound: number, from: number): string => String(from + rng.int(bound)).padStart(2, '0')
  const date = `20${two(30, 0)}-${two(12, 1)}-${two(28, 1)}`
  switch (node['format']) {
    case 'date':
      return date
    case 'date-time':
      return `${date}T${two(24, 0)}:${two(60, 0)}:${two(60, 0)}Z`
    case 'time':
      return `${two(24, 0)}:${two(60, 0)}:${two(60, 0)}Z`
    case 'email':
      return `${word(rng, 3, 8)}@example.com`
    case 'uri':
    case 'url':
      return `https://example.com/${word(rng, 3, 8)}`
    case 'uuid': {
      const hex = (count: number): string =>
        Array.from({ length: count }, () => rng.int(16).toString(16)).join('')
      return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
    }
  }
  if (typeof node['pattern'] === 'string') {
    const matched = fromPattern(node['pattern'], rng)
    if (matched !== undefined) return matched
  }
  const least = number(node['minLength']) ?? 1
  return word(rng, least, Math.max(least, Math.min(number(node['maxLength']) ?? least + 8, least + 32)))
}

function word(rng: Rng, least: number, most: number): string {
  let text = ''
  for (let left = least + rng.int(most - least + 1); left > 0; left--) text += letters[rng.int(26)]
  return text
}

const patternPiece = /(\\d|\\w|\\.|\[[^\]\\^]+\]|[^\\[\](){}|?*+.^$])(?:\{(\d+)(?:,(\d+))?\}|([+*?]))?/y

/** Text for a pattern made of characters, simple classes and counts, such as `^[a-z]{5}$`; undefined for others. */
function fromPattern(pattern: string, rng: Rng): string | undefined {
  const source = pattern.replace(/^\^/, '').replace(/\$$/, '')
  let text = ''
  patternPiece.lastIndex = 0
  while (patternPiece.lastIndex < source.length) {
    const piece = patternPiece.exec(source)
    if (piece === null) return undefined
    const [, atom, least, most, sign] = piece
    const from = least === undefined ? (sign === '*' || sign === '?' ? 0 : 1) : Number(least)
    const to = most !== undefined ? Number(most) : sign === '?' ? 1 : sign === undefined ? from : from + 4
    const alphabet = charactersOf(atom!)
    for (let left = from + rng.int(to - from + 1); left > 0; left--) text += rng.pick(alphabet)
  }
  try {
    return new RegExp(pattern, 'u').test(text) ? text : undefined
  } catch {
    return undefined
  }
}

function charactersOf(atom: string): string[] {
  if (atom === '\\d') return [...'0123456789']
  if (atom === '\\w') return [...letters, ...'0123456789']
  if (atom.startsWith('\\')) return [atom.slice(1)]
  if (!atom.startsWith('[')) return [atom]
  const inside = atom.slice(1, -1)
  const characters: string[] = []
  for (let i = 0; i < inside.length; i++) {
    const [from, dash, to] = [inside[i]!, inside[i + 1], inside[i + 2]]
    if (dash === '-' && to !== undefined) {
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++)
        characters.push(String.fromCharCode(code))
      i += 2
    } else characters.push(from)
  }
  return characters
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
