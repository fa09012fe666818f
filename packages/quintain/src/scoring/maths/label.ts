import type { Node } from './syntax.ts'

/** An answer without the name that stands before it: `x = 3`, `f(x) = 2x`, `x ∈ (0, 1)`. */
export interface Labelled {
  label: string | undefined
  body: Node
}

export function unlabelled(node: Node): Labelled {
  if (node.kind !== 'relation' || node.builder) return { label: undefined, body: node }
  const [first] = node.items
  const label = first === undefined ? undefined : labelOf(first)
  const isNamed =
    node.signs.every((sign) => sign === '=' || sign === '≈') ||
    (node.signs.length === 1 && node.signs[0] === '∈')
  if (label === undefined || !isNamed) return { label: undefined, body: node }
  return { label, body: node.items.at(-1)! }
}

function labelOf(node: Node): string | undefined {
  switch (node.kind) {
    case 'symbol':
      return node.name
    case 'text':
      return node.text.toLowerCase()
    case 'function': {
      if (!node.name.endsWith('()')) return undefined
      const args = node.args.map(labelOf)
      return args.includes(undefined) ? undefined : `${node.name}${args.join(',')}`
    }
    case 'tuple': {
      const names = node.items.map(labelOf)
      return names.includes(undefined) ? undefined : `(${names.join(',')})`
    }
    case 'product': {
      // The side AB of a triangle, and P(x).
      const names = node.items.map((item) =>
        item.kind === 'symbol' && item.name.length === 1 ? item.name : undefined,
      )
      return names.includes(undefined) || names.some((name) => name! > 'Z') ? undefined : names.join('')
    }
    default:
      return undefined
  }
}
