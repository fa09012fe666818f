/** Deeper values are data that nobody reads, and would outgrow the stack. */
const mostDepth = 40
/** Longer lines are broken. */
const width = 110

/** Thrown for a value that no source text is made of. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep'
}

/**
 * A JSON value as TypeScript that a person reads: on one line where that is short, else a line for each entry. Evaluated, it
 * is the same value, whatever its keys are called. Throws `TooDeep`.
 */
export function literal(value: unknown, indent = '', depth = 0): string {
  if (depth > mostDepth) throw new TooDeep('the value is nested too deeply')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const inner = `${indent}  `
  const list = Array.isArray(value)
  const entries = list
    ? value.map((item: unknown) => literal(item, inner, depth + 1))
    : Object.entries(value).map(([name, item]) => `${keyOf(name)}: ${literal(item, inner, depth + 1)}`)
  if (entries.length === 0) return list ? '[]' : '{}'
  const [open, close] = list ? ['[', ']'] : ['{ ', ' }']
  const line = `${open}${entries.join(', ')}${close}`
  if (indent.length + line.length <= width && !line.includes('\n')) return line
  return `${open.trim()}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close.trim()}`
}

/** A name as a key. `__proto__` is one only when it is computed: written plainly it sets the prototype. */
export function keyOf(name: string): string {
  if (name === '__proto__') return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
