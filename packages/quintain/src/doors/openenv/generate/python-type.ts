import { pythonString } from '../../python-string.ts'

/**
 * A JSON schema as a type hint, as far as hints that trainers make schemas of again can say it: what they cannot is `Any`,
 * and the server checks the whole.
 */
export function pythonType(schema: unknown, depth = 0): string {
  if (typeof schema !== 'object' || schema === null || depth > 4) return 'Any'
  const { type, enum: values, const: value, anyOf, oneOf, items } = schema as Record<string, unknown>
  if ('const' in schema) return literals([value]) ?? 'Any'
  if (Array.isArray(values)) return literals(values) ?? 'Any'
  const either = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (either !== undefined) return union(either.map((one) => pythonType(one, depth + 1)))
  if (Array.isArray(type)) return union(type.map((one) => pythonType({ ...schema, type: one }, depth + 1)))
  if (type === 'array') {
    const item = pythonType(items, depth + 1)
    return `list[${item}]`
  }
  return (typeof type === 'string' ? plain.get(type) : undefined) ?? 'Any'
}

const plain: ReadonlyMap<string, string> = new Map([
  ['string', 'str'],
  ['integer', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
  ['object', 'dict[str, Any]'],
  ['null', 'None'],
])

function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.length === 0 || different.includes('Any')) return 'Any'
  // `None` alone stands last, as people write it.
  return different.sort((a, b) => Number(a === 'None') - Number(b === 'None')).join(' | ')
}

function literals(values: readonly unknown[]): string | undefined {
  const written = values.map((value) => {
    if (value === null) return 'None'
    if (typeof value === 'string') return pythonString(value)
    if (typeof value === 'boolean') return value ? 'True' : 'False'
    return Number.isSafeInteger(value) ? String(value) : undefined
  })
  if (written.length === 0 || written.includes(undefined)) return undefined
  return `Literal[${[...new Set(written)].join(', ')}]`
}
