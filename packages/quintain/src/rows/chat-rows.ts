import type { Message, ToolRecord, TrajectoryRecord } from '../core/index.ts'

/** A branch as messages, before it is weighed. */
export interface BuiltChatRow {
  /** The call that ends it. */
  end: number
  messages: Message[]
  trained: boolean[]
  tools: readonly ToolRecord[] | undefined
}

/**
 * The branches that calls end, each from its root. What a model said is trained on in one of them only, the first that
 * holds it: in the others it is context.
 */
export function buildChatRows(trajectory: TrajectoryRecord, trained: ReadonlySet<number>): BuiltChatRow[] {
  const { nodes, calls, seats, toolSets } = trajectory
  const open = new Map([...trained].map((at) => [calls[at]!.output, at]))
  const inner = new Set<number>()
  for (const at of trained) {
    for (let node = calls[at]!.prompt; node >= 0 && !inner.has(node); node = nodes[node]!.parent)
      inner.add(node)
  }
  const rows: BuiltChatRow[] = []
  for (const end of trained) {
    const { output, seat, tools } = calls[end]!
    if (inner.has(output)) continue
    const row: BuiltChatRow = {
      end,
      messages: [],
      trained: [],
      tools: tools === undefined ? seats[seat]?.tools : toolSets?.[tools],
    }
    for (let node = output; node >= 0; node = nodes[node]!.parent) {
      row.messages.push(nodes[node]!.message)
      row.trained.push(open.delete(node))
    }
    row.messages.reverse()
    row.trained.reverse()
    rows.push(row)
  }
  return rows
}
