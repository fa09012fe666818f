import type { MessageNode } from '../core/index.ts'

/**
 * For each node the first message of its conversation: the first on its way from the root that is no system message, by
 * which calls that share a system prompt are told apart. A system message at the beginning is its own.
 */
export function conversationHeads(nodes: readonly MessageNode[]): Int32Array {
  const heads = new Int32Array(nodes.length)
  for (const [at, { parent }] of nodes.entries()) {
    const isFirst = parent < 0 || (heads[parent] === parent && nodes[parent]!.message.role === 'system')
    heads[at] = isFirst ? at : heads[parent]!
  }
  return heads
}
