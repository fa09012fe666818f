import type { TrajectoryRecord } from '../../core/index.ts'
import { type RowsOptions, type RowsReport, trainingRows } from '../../rows/index.ts'
import { type WireMessage, type WireTool, wireMessage, wireTool } from './chat-wire.ts'
import type { Lineage } from './lineage.ts'

/** A conversation to fine-tune on, as trainers and OpenAI's fine-tuning read it; `lineage` is ours. */
export interface SftRow {
  lineage: Lineage & {
    /** From 0 within the attempt, and its share of the attempt's trained messages. */
    row: number
    weight: number
    exactness: 'text-only'
    /** Its last output ended for its length. */
    truncated: boolean
  }
  messages: WireMessage[]
  tools?: WireTool[]
}

/**
 * Rows of the conversations of an attempt. What a model said is trained on in one of them only; in the others, and where
 * nobody sampled it, its message has `weight` 0.
 */
export function sftRows(
  trajectory: TrajectoryRecord,
  lineage: Lineage,
  options: RowsOptions,
): { rows: SftRow[]; report: RowsReport } {
  const { rows, report } = trainingRows(trajectory, { ...options, textOnly: true })
  const made = rows.map(({ messages, trained, tools, row, weight, exactness, truncated }) => ({
    lineage: { ...lineage, row, weight, exactness, truncated },
    messages: messages.map((message, at) => {
      const wire = wireMessage(message)
      return wire.role === 'assistant' && !trained[at] ? { ...wire, weight: 0 as const } : wire
    }),
    ...(tools === undefined ? {} : { tools: tools.map(wireTool) }),
  }))
  return { rows: made, report }
}
