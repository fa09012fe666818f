import type { Seat } from './environment.ts'
import type { MessageNode, TrajectoryRecord } from './records.ts'

/** The last node of a seat, -1 when it has none: where what was said in the world ends, unless the trajectory says otherwise. */
export function lastNodeOf(nodes: readonly MessageNode[], seat: Seat): number {
  return nodes.findLastIndex((node) => node.seat === seat)
}

/**
 * Places of the nodes of what was said in the world of a seat, from its first to its last: what graders read. What a model
 * was asked beside it, by an agent outside, is not among them.
 */
export function conversationOf(
  { nodes, leaves }: Pick<TrajectoryRecord, 'nodes' | 'leaves'>,
  seat: Seat,
): number[] {
  const found: number[] = []
  for (let at = leaves?.[seat] ?? lastNodeOf(nodes, seat); at >= 0; at = nodes[at]!.parent) found.push(at)
  return found.reverse()
}
